"""Attention, as mistakes would compute it."""

from __future__ import annotations

import math

import torch

from graders.course.attention.reference import attend, attention, hide, scores
from graders.course.common.detectors import READS_OUTSIDE, has_holes, stored_prefix
from graders.course.common.expected import Result, read_as
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import close
from graders.judge.records import Evidence


def scaled(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return scores(q, k) / math.sqrt(q.shape[-1])


def scaled_by(factor: float) -> Result:
    """`factor` is the power of d by which the scores are divided."""

    def wrong(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        return attend(hide(scores(q, k) / q.shape[-1] ** factor, causal), v)

    return wrong


def future_only(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    s = scaled(q, k)
    past = torch.ones(s.shape[-2:]).tril(-1).bool()
    return attend(s.masked_fill(past, -float("inf")), v) if causal else None


def not_divided(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """The weights do not sum to 1."""
    s = hide(scaled(q, k), causal)
    return torch.exp(s - s.amax(dim=-1, keepdim=True)) @ v


def base_two(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> list[torch.Tensor]:
    """Powers of 2 without log2(e), or with ln 2 in its place; or powers of e with log2(e)."""
    factors = (math.log(2.0), math.log(2.0) ** 2, math.log2(math.e))
    return [attend(hide(scaled(q, k) * factor, causal), v) for factor in factors]


def always_causal(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    return None if causal else attend(hide(scaled(q, k), True), v)


def one_key_more(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    return attend(hide(scaled(q, k), True, 2), v) if causal else None


def local_indices(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Positions within the blocks are compared: those of the queries, or of both."""
    m, n = q.shape[-2], k.shape[-2]
    if not causal or block >= m:
        return []
    row, column = torch.arange(m)[:, None], torch.arange(n)
    reached = column < (row // block + 1) * block
    seen = (
        row % block >= column,
        (row % block >= column % block) & reached,
        row % block >= column % block,
    )
    return [attend(scaled(q, k).masked_fill(~mask, -float("inf")), v) for mask in seen]


def future_in_the_sum(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Hidden keys are left out of the output alone, or have the score 0 in place of -inf."""
    if not causal:
        return []
    row, column = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])
    reached = column < (row // block + 1) * block
    s = scaled(q, k)
    weights = torch.exp(s - s.amax(dim=-1, keepdim=True))
    found = []
    for walked in (reached, torch.ones_like(reached)):
        total = (weights * walked).sum(dim=-1, keepdim=True)
        found.append((weights * (column <= row)) @ v / total)
        zeroed = s.masked_fill(column > row, 0.0).masked_fill(~walked, -float("inf"))
        found.append(attend(zeroed, v))
    return found


def keys_or_values(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    other_k: torch.Tensor,
    other_v: torch.Tensor,
) -> list[torch.Tensor]:
    """Other keys, other values, or both take the place of the right ones."""
    pairs = ((other_k, other_v), (k, other_v), (other_k, v))
    return [attention(q, *pair, causal) for pair in pairs]


def other_heads(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Keys, values or both are always those of the first head or batch."""
    found = []
    for axis in range(q.ndim - 2):
        first = torch.zeros(k.shape[axis], dtype=torch.int64)
        k_0, v_0 = k.index_select(axis, first), v.index_select(axis, first)
        found += keys_or_values(q, k, v, causal, k_0, v_0)
    return found + _heads_m_apart(q, k, v, causal)


def _heads_m_apart(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """In dense memory the next head's keys and values are looked for m rows further, not n."""
    m, n = q.shape[-2], k.shape[-2]
    count = k.shape[:-2].numel()
    if count < 2 or m > n:
        return []
    rows = torch.arange(count)[:, None] * m + torch.arange(n)
    k_m, v_m = (tensor.reshape(-1, q.shape[-1])[rows].view(k.shape) for tensor in (k, v))
    return keys_or_values(q, k, v, causal, k_m, v_m)


def read_like_another(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """One of the three is read with the strides of another."""
    found = []
    for place, strides in _borrowed(q, k, v):
        read = read_as((q, k, v)[place], tuple((q, k, v)[place].shape), strides)
        if read is not None:
            wrong = [q, k, v]
            wrong[place] = read
            found.append(attention(*widened((*wrong, causal))))
    return found


def _borrowed(*tensors: torch.Tensor) -> list[tuple[int, tuple[int, ...]]]:
    """The number of a tensor, and strides of another one that are not its own."""
    return [
        (place, other.stride())
        for place, tensor in enumerate(tensors)
        for other in tensors
        if other.stride() != tensor.stride()
    ]


def read_crosswise(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """One of the three is read with its own strides of rows and columns exchanged."""
    found = []
    for place, tensor in enumerate((q, k, v)):
        *lead, row, column = tensor.stride()
        read = read_as(tensor, tuple(tensor.shape), (*lead, column, row))
        if row != column and read is not None:
            wrong = [q, k, v]
            wrong[place] = read
            found.append(attention(*widened((*wrong, causal))))
    return found


def one_left(evidence: Evidence) -> bool:
    """Tell whether a kernel left one argument, and may have read it with another's strides."""
    q, k, v, _ = evidence.args
    left = {fault.argument for fault in evidence.faults if fault.code in READS_OUTSIDE}
    # Who takes all three to be dense reads outside of more than one of them.
    return len(left) == 1 and bool(_borrowed(q, k, v))


def nothing_visible(evidence: Evidence) -> bool:
    """All is right but rows of NaN, where a block held nothing but hidden keys."""
    actual, causal = evidence.actual, evidence.args[3]
    if actual is None or not causal or not actual.isnan().any() or actual.isnan().all():
        return False
    if has_holes(evidence):
        return False
    missing = actual.isnan()
    return bool((close(actual, evidence.expected) | missing).all())


def first_head_only(evidence: Evidence) -> bool:
    if evidence.expected.ndim < 3:
        return False
    stored = stored_prefix(evidence)
    m, d = evidence.expected.shape[-2:]
    return stored is not None and stored > 0 and stored % (m * d) == 0


def _broken_queries(evidence: Evidence) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Which queries are not finite, and the highest score of each one; None where all are."""
    actual = evidence.actual
    q, k = evidence.args[:2]
    if actual is None or not k.numel():
        return None
    broken = (~actual.isfinite()).any(dim=-1)
    highest = (scores(q.double(), k.double()) / math.sqrt(q.shape[-1])).amax(dim=-1)
    return (broken, highest) if bool(broken.any()) else None


def underflowed(evidence: Evidence) -> bool:
    """Tell whether queries are not finite whose scores all lie far below zero, and no others."""
    found = _broken_queries(evidence)
    return found is not None and bool((found[1][found[0]] < -60).all())


def overflowed(evidence: Evidence) -> bool:
    found = _broken_queries(evidence)
    return found is not None and bool((found[1][found[0]].abs() > 60).all())


def other_scales(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """The scores are multiplied by another number: of m, of n, of a usual d, or by √d."""
    m, d, n = *q.shape[-2:], k.shape[-2]
    if not m or not n:
        return []
    factors = (n**-0.5, 1 / n, m**-0.5, d**0.5, float(d), 0.0, *(size**-0.5 for size in (64, 128)))
    return [attend(hide(scores(q, k) * factor, causal), v) for factor in factors]


def weights_scaled(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """The factor 1/√d comes after the softmax."""
    return attend(hide(scores(q, k), causal), v) / math.sqrt(q.shape[-1])


def divided_by_count(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor:
    """The output is divided by the number of keys, not by the sum of their weights."""
    return not_divided(q, k, v, causal) / max(1, k.shape[-2])


def divided_by_sum_and_eps(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """The output is divided by the sum of the weights plus a small number."""
    s = hide(scaled(q, k), causal)
    if not s.numel():
        return []
    weights = torch.exp(s - s.amax(dim=-1, keepdim=True))
    total = weights.sum(dim=-1, keepdim=True)
    return [weights @ v / (total + 10.0**-power) for power in range(1, 7)]


def over_queries(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """The softmax runs along the queries."""
    return torch.softmax(hide(scaled(q, k), causal), dim=-2) @ v


def operands_mixed(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """q, k and v in other roles, as far as their shapes allow."""
    triples = [(q, v, k), (q, v, v), (q, k, k)]
    if q.shape == k.shape:
        triples += [(k, q, v), (q, q, v), (k, k, v), (v, k, q), (q, k, q)]
    return [attention(*triple, causal) for triple in triples]


def hidden_too_little(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Keys in the future get a finite score, or have a number subtracted."""
    if not causal:
        return []
    s = scaled(q, k)
    future = torch.ones(s.shape[-2:]).triu(1).bool()
    lower = [torch.where(future, s - by, s) for by in (1.0, 10.0, 100.0)]
    fixed = [s.masked_fill(future, -by) for by in (1.0, 10.0, 100.0)]
    return [attend(weak, v) for weak in (*lower, *fixed)]


def numbered_through_heads(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """Queries are numbered through all heads, so that only the first one hides anything."""
    if not causal or q.ndim < 3:
        return None
    positions = torch.arange(q.shape[:-1].numel()).view(*q.shape[:-1], 1)
    future = torch.arange(k.shape[-2]) > positions
    return attend(scaled(q, k).masked_fill(future, -float("inf")), v)
