"""Decoding whose parts are merged with the sum of one of them, or share keys with each other."""

from __future__ import annotations

import torch

from graders.course.decoding.mistakes.wrong_parts import STEPS, Parts, Way, scored, ways_of

Tensor = torch.Tensor
Found = list[torch.Tensor]
MOST_KEYS = 2500  # of the longest sequence; more of them take too long here


def divided_by_one(parts: Parts) -> Found:
    """The outputs are merged as they should be, and divided by the sum of the last part alone.

    Or of the first part. Where the last has no keys its sum is 0, in whose place 1 may stand. The
    right result is among them, because parts may be so long that nothing shows.
    """
    merged = (parts.powers[..., None] * parts.output).sum(dim=1)
    sums = parts.powers * parts.total
    right = merged / sums.sum(dim=1)[:, None]
    found = [merged / sums[:, -1:], merged / parts.total[:, -1:], merged / sums[:, :1], right]
    has_empty_parts = parts.count > sums.shape[1]
    return found + ([merged / 0.0, merged] if has_empty_parts else [found[0], found[0]])


def counted_twice(*args: Tensor) -> Found:
    """Each part reads some keys more, which are those of a neighbour.

    Among the results is the right one, because parts may be so long that nothing shows.
    """
    q, k_pages, _, _, lengths = args
    longest = int(lengths.max()) if len(lengths) else 0
    if not 1 < longest <= MOST_KEYS or not q.numel():
        return []
    ways, page_size = ways_of(args), k_pages.shape[1]
    each = [
        _weighted(s, v, _all_counts(s.shape[1], ways, number, page_size))
        for number, (s, v) in enumerate(scored(args))
    ]
    return list(torch.stack(each, dim=1))


def _weighted(s: Tensor, v: Tensor, counts: Tensor) -> Tensor:
    """One sequence whose keys count as often as `counts` (forms, n) says: (forms, hq, d)."""
    if not s.shape[1]:
        return s.new_zeros(len(counts), s.shape[0], v.shape[-1])
    weights = torch.exp(s - s.amax(dim=1, keepdim=True))[:, None] * counts
    return ((weights @ v) / weights.sum(dim=-1, keepdim=True)).transpose(0, 1)


def _all_counts(keys: int, ways: list[Way], number: int, page_size: int) -> Tensor:
    """How often each key of a sequence counts, for each way to cut and each kind of overlap."""
    found = [_counts(keys, max(1, keys), keys)]
    for way in ways:
        size = way[number]
        found += [_counts(keys, size, size + more) for more in sorted({1, page_size, *STEPS})]
        found += [_counts(keys, size, -(-size // step) * step) for step in STEPS]
    return torch.stack([counts for pair in found for counts in pair])


def _counts(keys: int, size: int, read: int) -> tuple[Tensor, Tensor]:
    """How often each key counts where parts of `size` keys read on, or begin before their start."""
    starts = torch.arange(0, max(1, keys), size)[:, None]
    key = torch.arange(keys)
    later = (key >= starts) & (key < starts + read)
    earlier = (key >= starts + size - read) & (key < starts + size)
    return later.sum(dim=0).double(), earlier.sum(dim=0).double()
