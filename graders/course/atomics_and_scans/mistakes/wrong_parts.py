"""Products whose sum over k is cut into parts that do not make up the whole."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from graders.course.common.expected import BLOCK_SIZES
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence

Product = torch.Tensor
Found = list[torch.Tensor]
PARTED_BLOCKS = tuple(block for block in BLOCK_SIZES if 8 <= block <= 512)


def operands(a: torch.Tensor, b: torch.Tensor, splits: int) -> tuple[torch.Tensor, torch.Tensor]:
    return a, b


def finish(product: Product, a: torch.Tensor, b: torch.Tensor, splits: int) -> Product:
    return product


def _owners(k: int, splits: int) -> Iterator[torch.Tensor]:
    """The part to which each element of k belongs, in the usual ways to cut k."""
    inner = torch.arange(k)
    yield inner // max(1, -(-k // splits))
    for block in PARTED_BLOCKS:
        blocks = -(-k // block)
        yield inner // block % splits
        yield inner // (-(-blocks // splits) * block)


def _sums_of_parts(a: torch.Tensor, b: torch.Tensor, splits: int) -> Iterator[Found]:
    """The product over each part, for each way to cut k."""
    seen: set[tuple[int, ...]] = set()
    for owner in _owners(a.shape[1], splits):
        if (key := tuple(owner.tolist())) in seen:
            continue
        seen.add(key)
        yield [a[:, owner == part] @ b[owner == part] for part in range(splits)]


def left_from_before(evidence: Evidence) -> bool:
    """Tell whether there is nothing but NaN, with which the judge fills memory that is not set."""
    actual = evidence.actual
    if actual is None or not actual.numel() or not bool(evidence.expected.isfinite().all()):
        return False
    return bool(actual.isnan().all())


def some_parts(evidence: Evidence) -> bool:
    """Tell whether parts are missing at the beginning or at the end."""
    a, b, splits = widened(evidence.args)
    if evidence.actual is None or splits < 2 or not a.shape[1]:
        return False
    for parts in _sums_of_parts(a, b, splits):
        stacked = torch.stack(parts)
        for count in range(1, splits):
            wrong = stacked[:count].sum(0), stacked[count:].sum(0)
            if any(looks_like(evidence, product) for product in wrong):
                return True
    return False


def whole_in_each_part(a: torch.Tensor, b: torch.Tensor, splits: int) -> Product | None:
    return splits * (a @ b) if splits > 1 else None


def remainder_lost(a: torch.Tensor, b: torch.Tensor, splits: int) -> Product | None:
    """Each part has k // splits elements, and what is left over belongs to nobody."""
    end = a.shape[1] // splits * splits
    return a[:, :end] @ b[:end] if splits > 1 else None


def blocks_lost(block: int, a: torch.Tensor, b: torch.Tensor, splits: int) -> Found:
    """Each part has as many blocks as the others, and the blocks left over are nobody's."""
    k = a.shape[1]
    if splits < 2:
        return []
    ends = {
        (-(-k // block) // splits) * splits * block,
        k // (splits * block) * splits * block,
    }
    found = [a[:, :end] @ b[:end] for end in sorted(ends) if end < k]
    length = k // splits  # each part has whole blocks only, of its own k // splits elements
    for share in {length, -(-k // splits)}:
        inner = torch.arange(k)
        kept = inner % max(1, share) < share // block * block
        found.append(a[:, kept] @ b[kept])
    return found


def overlapping(block: int, a: torch.Tensor, b: torch.Tensor, splits: int) -> Found:
    """Parts that begin where they should, and end with a whole block in the next part.

    Or they are as long as they should be, and begin one block, or one element, apart.
    """
    k = a.shape[1]
    if splits < 2 or not k:
        return []
    share = -(-k // splits)
    long = -(-share // block) * block
    starts = [(share, long), (k // splits, -(-(k // splits) // block) * block)]
    starts += [(block, share), (block, long), (1, share), (1, long)]
    return [_windows(a, b, splits, step, length) for step, length in starts]


def _windows(a: torch.Tensor, b: torch.Tensor, splits: int, step: int, length: int) -> Product:
    k = a.shape[1]
    times = torch.zeros(k, dtype=a.dtype)
    for part in range(splits):
        times[min(k, part * step) : min(k, part * step + length)] += 1
    return (a * times) @ b


def from_own_start(block: int, a: torch.Tensor, b: torch.Tensor, splits: int) -> Product | None:
    """Each part runs from its beginning to the end of k."""
    k = a.shape[1]
    if splits < 2 or not k:
        return None
    share = -(-k // splits)
    if block > 1:
        blocks = -(-k // block)
        share = -(-blocks // splits) * block
    return _windows(a, b, splits, share, k)


def in_steps_of_one_block(
    block: int, a: torch.Tensor, b: torch.Tensor, splits: int
) -> Product | None:
    """Each part begins at its own block and takes all that follow."""
    k = a.shape[1]
    if splits < 2 or not k:
        return None
    return _windows(a, b, splits, block, k)


def averaged(a: torch.Tensor, b: torch.Tensor, splits: int) -> Product | None:
    return a @ b / splits if splits > 1 else None
