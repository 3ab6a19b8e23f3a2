"""Decoding whose keys are cut into parts, and whose parts are put together as mistakes would."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch

from graders.course.common.expected import BLOCK_SIZES, WIDE_BLOCKS
from graders.course.decoding.mistakes.wrong_sums import sequences

Tensor = torch.Tensor
Found = list[torch.Tensor]
Way = tuple[int, ...]  # of each sequence, how many keys a part has
ROUNDED_TO = (1, 16, 64)  # to a multiple of which the length of a part may be rounded
MOST_SHARES = 32
STEPS = (16, 32, 64, 128)  # keys that a walk through a part may take at a time
WALKED = 400  # keys of the longest sequence; more of them take too long here


@dataclass(frozen=True)
class Parts:
    """The parts of the keys of one sequence, along the last axis but for d.

    `top` and `total` (hq, parts) are maximum and sum; `output` (hq, parts, d) sums the values with
    the same weights. `count` is how many parts a launcher knows of, with those without keys.
    """

    top: Tensor
    total: Tensor
    output: Tensor
    count: int

    @property
    def lse(self) -> Tensor:
        return self.top + torch.log(self.total)

    @property
    def means(self) -> Tensor:
        return self.output / self.total[..., None]

    @property
    def powers(self) -> Tensor:
        """What brings each part to the largest maximum."""
        return torch.exp(self.top - self.top.amax(dim=-1, keepdim=True))


Rule = Callable[[Parts], Found]


def ways_to_cut(lengths: list[int], most: int, page_size: int) -> list[Way]:
    """Return how long the parts may be: so many keys, or a share of one in so many.

    A share of the length of each sequence, or of what the table has room for; rounded up, or not.
    """
    same = {size for size in WIDE_BLOCKS if size < max(lengths, default=0)}
    shares = [n for n in BLOCK_SIZES if 1 < n <= MOST_SHARES]
    units = sorted({*ROUNDED_TO, page_size})
    same |= {_share(most, n, unit) for n in shares for unit in units}
    ways: set[Way] = {(size,) * len(lengths) for size in same}
    ways |= {tuple(_share(own, n, unit) for own in lengths) for n in shares for unit in units}
    return sorted(way for way in ways if way and min(way) > 0)


def ways_of(args: tuple[Tensor, ...]) -> list[Way]:
    """How long the parts of a case's sequences may be."""
    _, k_pages, _, table, lengths = args
    most = table.shape[1] * k_pages.shape[1]
    return ways_to_cut(lengths.tolist(), most, k_pages.shape[1])


def _share(keys: int, shares: int, unit: int) -> int:
    """A share of the keys, rounded up to a multiple of `unit`; at least that many."""
    return max(1, -(-keys // (shares * unit))) * unit


def scored(args: tuple[Tensor, ...]) -> list[tuple[Tensor, Tensor]]:
    """The scores (hq, n) and the values (hq, n, d) of each sequence."""
    root = math.sqrt(max(1, args[0].shape[-1]))
    return [((q @ k.mT)[:, 0] / root, v) for q, k, v in sequences(*args)]


def _cut(s: Tensor, v: Tensor, size: int, most: int) -> Parts:
    """One sequence in parts of `size` keys."""
    spare = -s.shape[1] % size
    padded = torch.nn.functional.pad(s, (0, spare), value=-float("inf"))
    padded = padded.reshape(len(s), -1, size)
    values = torch.nn.functional.pad(v, (0, 0, 0, spare)).reshape(len(s), -1, size, v.shape[-1])
    top = padded.amax(dim=-1)
    weights = torch.exp(padded - top[..., None])
    output = torch.einsum("hps,hpsd->hpd", weights, values)
    return Parts(top, weights.sum(dim=-1), output, max(1, -(-most // size)))


Cut = list[list[Parts | None]]  # for each way, the parts of each sequence that has keys


@lru_cache(maxsize=1)
def _remembered(table: Tensor, lengths: Tensor) -> dict[str, Cut]:
    """Where the cuts of a case are kept: all rules ask for the same ones, one after another.

    A case has its own tensors of integers, which are the same objects from rule to rule.
    """
    return {}


def _all_cuts(args: tuple[Tensor, ...]) -> Cut:
    """All ways to cut the keys that cut at least one sequence into several parts."""
    _, k_pages, _, table, lengths = args
    kept = _remembered(table, lengths)
    if "cuts" not in kept:
        each, most = scored(args), table.shape[1] * k_pages.shape[1]
        ways = ways_of(args)
        kept["cuts"] = [
            [
                _cut(s, v, size, most) if s.shape[1] else None
                for (s, v), size in zip(each, way, strict=True)
            ]
            for way in ways
            if any(s.shape[1] > size for (s, _), size in zip(each, way, strict=True))
        ]
    return kept["cuts"]


def merged_by(rule: Rule) -> Callable[..., Found]:
    """Return what comes out where parts are merged by this rule."""

    def wrong(*args: Tensor) -> Found:
        if not args[0].numel():
            return []
        found, nothing = [], torch.zeros_like(args[0][0])
        for parts in _all_cuts(args):
            forms = [[] if part is None else rule(part) for part in parts]
            for i in range(max(map(len, forms))):
                found.append(torch.stack([form[i] if form else nothing for form in forms]))
        return found

    return wrong


def _average(shares: Tensor, of: Tensor) -> Tensor:
    return (shares[..., None] * of).sum(dim=1)


def averaged(parts: Parts) -> Found:
    """Each part counts as much as any other, or as much as one without keys."""
    return [parts.means.mean(dim=1), parts.means.sum(dim=1) / parts.count]


def added(parts: Parts) -> Found:
    return [parts.means.sum(dim=1)]


def without_maxima(parts: Parts) -> Found:
    """Outputs and sums are added as they are, each about its own maximum."""
    outputs, totals = parts.output.sum(dim=1), parts.total.sum(dim=1)[:, None]
    right = (parts.powers * parts.total).sum(dim=1)[:, None]
    mixed = _average(parts.powers, parts.output) / totals
    return [outputs / totals, outputs / right, mixed]


def without_sums(parts: Parts) -> Found:
    """The weights of the parts know their maxima alone."""
    shares = torch.softmax(parts.top, dim=-1)
    right = (parts.powers * parts.total).sum(dim=1)[:, None]
    return [
        _average(shares, parts.means),
        _average(shares, parts.output),
        _average(parts.powers, parts.means) / right,
    ]


def weighted_twice(parts: Parts) -> Found:
    """What is weighted by exp(lse) is no mean yet: the sum of the part counts twice.

    Nothing where all parts weigh the same: there other mistakes give the same numbers.
    """
    if torch.allclose(parts.lse, parts.lse[..., :1]):
        return []
    return [_average(torch.softmax(parts.lse, dim=-1), parts.output)]


def not_normalised(parts: Parts) -> Found:
    """The weights of the parts do not add up to 1."""
    lse = parts.lse
    about_largest = torch.exp(lse - lse.amax(dim=-1, keepdim=True))
    return [
        _average(about_largest, parts.means),
        _average(parts.powers, parts.output),
        _average(torch.exp(lse), parts.means),
        parts.output.sum(dim=1),
    ]


def other_weights(parts: Parts) -> Found:
    """The weights are powers of 2, the log-sum-exps or sums themselves, or turned over."""
    lse, total = parts.lse, parts.total
    exponents = (
        lse * math.log(2.0),
        lse * math.log2(math.e),
        parts.top * math.log2(math.e) + torch.log(total),
        parts.top + torch.log2(total),
        parts.top - torch.log(total),
        parts.top + total,
        -lse,
    )
    shares = [torch.softmax(exponent, dim=-1) for exponent in exponents]
    shares += [one / one.sum(dim=-1, keepdim=True) for one in (lse, lse.exp().log1p(), total)]
    return [_average(share, parts.means) for share in shares]


def part_left_out(parts: Parts) -> Found:
    """All parts but the last, or all but the first, are merged as they should be."""
    found = []
    for some in (slice(0, -1), slice(1, None)):
        if parts.lse[:, some].shape[1]:
            found.append(_average(torch.softmax(parts.lse[:, some], -1), parts.means[:, some]))
    return found


# ---------------------------------------------------------------- within a part


def not_rescaled(*args: Tensor) -> Found:
    """Within each part sum, output or both keep their old maximum; the parts are merged rightly."""
    q, k_pages, _, table, lengths = args
    longest = int(lengths.max()) if len(lengths) else 0
    if not min(STEPS) < longest <= WALKED or not q.numel():
        return []
    each, most = scored(args), table.shape[1] * k_pages.shape[1]
    whole = (longest,) * len(lengths)
    found = []
    for way in {whole, *ways_to_cut(lengths.tolist(), most, k_pages.shape[1])}:
        for step in (step for step in STEPS if step < max(way)):
            rows = [
                _walked(s, v, size, step) if s.shape[1] else [torch.zeros_like(q[0])] * FORMS
                for (s, v), size in zip(each, way, strict=True)
            ]
            found += [torch.stack([row[i] for row in rows]) for i in range(FORMS)]
    return found


FORMS = 3  # what keeps its old maximum: the sum, the output, both


def _walked(s: Tensor, v: Tensor, size: int, step: int) -> list[Tensor]:
    """One sequence in parts of `size` keys, each walked through `step` by `step`."""
    cut = [_walk(a, b, step) for a, b in _steps(s, v, size)]
    tops = torch.stack([part[0] for part in cut], dim=1)
    powers = torch.exp(tops - tops.amax(dim=1, keepdim=True))
    totals, outputs = (
        [(torch.stack([part[1 + kind][i] for part in cut], dim=1)) for i in (0, 1)]
        for kind in (0, 1)
    )
    sums = [(powers * total).sum(dim=1)[:, None] for total in totals]
    weighted = [_average(powers, output) for output in outputs]
    return [weighted[0] / sums[1], weighted[1] / sums[0], weighted[1] / sums[1]]


def _walk(s: Tensor, v: Tensor, step: int) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Maximum, and sum and output of a part: rescaled as they should be, and not rescaled."""
    top: Tensor | None = None
    totals: Found = []
    outputs: Found = []
    for some, values in _steps(s, v, step):
        higher = some.amax(dim=1) if top is None else torch.maximum(top, some.amax(dim=1))
        weights = torch.exp(some - higher[:, None])
        total, output = weights.sum(dim=1), (weights[:, None] @ values)[:, 0]
        if top is None:
            totals, outputs = [total, total], [output, output]
        else:
            old = torch.exp(top - higher)
            totals = [totals[0] * old + total, totals[1] + total]
            outputs = [outputs[0] * old[:, None] + output, outputs[1] + output]
        top = higher
    assert top is not None
    return top, totals, outputs


def _steps(s: Tensor, v: Tensor, step: int) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(torch.split(s, step, dim=1), torch.split(v, step, dim=1), strict=True)
