"""The log-sum-exp of the scores, as mistakes would compute it."""

from __future__ import annotations

import math

import torch

from graders.course.attention.mistakes.wrong_loops import walk
from graders.course.attention.mistakes.wrong_results import scaled
from graders.course.attention.reference import hide, lse_magnitude, scores
from graders.course.common.detectors import RACES, has_fault, has_holes, stored_prefix
from graders.course.common.expected import Result
from graders.course.reductions.mistakes.softmax_results import blocks, not_walked
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence

Found = list[torch.Tensor]
STORES_OUTSIDE = frozenset({"out-of-bounds-store", "gap-store"})
BLOCKS_OF_QUERIES = (16, 32, 64, 128)


def _parts(q: torch.Tensor, k: torch.Tensor, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The maximum of each query's scores, and the sum of exp(score - maximum)."""
    s = hide(scaled(q, k), causal)
    top = s.amax(dim=-1)
    return top, torch.exp(s - top[..., None]).sum(dim=-1)


def maximum_not_added(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> Found:
    """The log of the sum alone, or with the maximum subtracted."""
    top, total = _parts(q, k, causal)
    return [torch.log(total), torch.log(total) - top]


def maximum_not_scaled(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor:
    """The maximum is that of the scores before 1/√d."""
    top, total = _parts(q, k, causal)
    return top * math.sqrt(q.shape[-1]) + torch.log(total)


def log_forgotten(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    top, total = _parts(q, k, causal)
    return top + total


def sum_returned(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> Found:
    """The sum itself, with or without the factor exp(maximum), or one over it."""
    top, total = _parts(q, k, causal)
    return [total, total * torch.exp(top), 1 / total]


def maximum_returned(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor:
    return _parts(q, k, causal)[0]


def other_logarithm(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> Found:
    """Logarithms to base 2: of the sum alone, or of maximum and sum, as exp2 suggests them."""
    top, total = _parts(q, k, causal)
    in_base_two = top / math.log(2.0)
    return [
        top + torch.log2(total),
        in_base_two + torch.log2(total),
        in_base_two + torch.log(total),
        math.log(2.0) * top + torch.log(total),
    ]


def sign_reversed(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    return -torch.logsumexp(hide(scaled(q, k), causal), dim=-1)


def log_of_mean(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """The log of the mean of exp(score)."""
    n = k.shape[-2]
    return torch.logsumexp(hide(scaled(q, k), causal), dim=-1) - math.log(n) if n else None


def maximum_of_last_block(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> Found:
    """The maximum that is added is that of the first, or of the last block, not of all keys."""
    if causal or not_walked(block, k.mT):
        return []
    parts = blocks(scaled(q, k), block)
    total = torch.log(_parts(q, k, causal)[1])
    return [part.amax(dim=-1) + total for part in (parts[-1], parts[0])]


def with_factor(power: float) -> Result:
    """`power` is that of d by which the scores are divided."""

    def wrong(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        return torch.logsumexp(hide(scores(q, k) / q.shape[-1] ** power, causal), dim=-1)

    return wrong


def with_mask(diagonal: int | None) -> Result:
    """Where the contract hides the future it is hidden from another diagonal on, or not at all."""

    def wrong(
        q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
    ) -> torch.Tensor | None:
        if not causal:
            return None
        s = scaled(q, k)
        return torch.logsumexp(s if diagonal is None else hide(s, True, diagonal), dim=-1)

    return wrong


def always_causal(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    return None if causal else torch.logsumexp(hide(scaled(q, k), True), dim=-1)


def future_counted(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> Found:
    """Keys in the future that the walk reaches count, with their own score or with 0."""
    if not causal:
        return []
    row, column = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])
    reached = column < (row // block + 1) * block
    s = scaled(q, k)
    zeroed = s.masked_fill(column > row, 0.0)
    found = []
    for walked in (reached, torch.ones_like(reached)):
        seen = [part.masked_fill(~walked, -float("inf")) for part in (s, zeroed)]
        found += [torch.logsumexp(part, dim=-1) for part in seen]
    return found


def padding_counted(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """Lanes beyond the last key count, with the score 0."""
    extra = -k.shape[-2] % block
    if not extra:
        return None
    lse = torch.logsumexp(hide(scaled(q, k), causal), dim=-1)
    return torch.logaddexp(lse, torch.full_like(lse, math.log(extra)))


def first_keys(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> Found:
    """Only the first block, or only whole blocks."""
    n = k.shape[-2]
    if not block < n:
        return []
    s = hide(scaled(q, k), causal)
    return [torch.logsumexp(s[..., :end], dim=-1) for end in {block, n // block * block}]


def not_rescaled(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> Found:
    """The sum keeps its old maximum, or is multiplied by the inverse of the factor."""
    if not_walked(block, k.mT):
        return []
    top = _parts(q, k, causal)[0]
    found = []
    for power in (0.0, -1.0):
        total = torch.zeros_like(top)
        for number, (kept, weights, _) in enumerate(walk(block, q, k, v, causal)):
            factor = kept[..., 0] ** power if number else torch.ones_like(top)
            total = total * factor + weights[..., 0]
        found.append(top + torch.log(total))
    return found


def last_block_alone(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """The sum holds the last block of keys only."""
    if causal or not_walked(block, k.mT):
        return None
    top = _parts(q, k, causal)[0]
    last = blocks(scaled(q, k), block)[-1]
    return top + torch.log(torch.exp(last - top[..., None]).sum(dim=-1))


def heads_collide(evidence: Evidence) -> bool:
    """Tell whether programs raced where there are several heads."""
    return evidence.args[0].ndim > 2 and has_fault(evidence, RACES)


def heads_misplaced(evidence: Evidence) -> bool:
    """Tell whether the last number of the last head was stored where another distance leads to.

    Behind the end, or too early; a mask that is missing leads to other places.
    """
    q, k = evidence.args[:2]
    (*lead, m, d), n = q.shape, k.shape[-2]
    heads = math.prod(lead)
    if heads < 2 or not m:
        return False
    whole_blocks = {-(-m // block) * block for block in BLOCKS_OF_QUERIES}
    # The lanes that a missing mask lets through end in the same place where there are two heads.
    distances = {n, d, m * d, n * d, *(whole_blocks if heads > 2 else ())} - {0, m}
    ends = {(heads - 1) * distance + m for distance in distances}
    for fault in evidence.faults:
        seen = fault.outside
        if seen is not None and fault.code in STORES_OUTSIDE and seen.end == heads * m:
            return seen.highest + 1 in ends
    return evidence.result == 1 and stored_prefix(evidence) in ends


def through_half(evidence: Evidence) -> bool:
    """Tell whether scores of half-precision inputs were rounded to their dtype once more."""
    q, actual = evidence.args[0], evidence.actual
    if actual is None or has_holes(evidence) or q.dtype not in (torch.float16, torch.bfloat16):
        return False
    room = 4 * torch.finfo(q.dtype).eps * lse_magnitude(*widened(evidence.args))
    return bool(((actual.double() - evidence.expected).abs() <= room).all())
