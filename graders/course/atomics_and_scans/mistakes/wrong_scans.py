"""Running sums that carry something else, or sum something else."""

from __future__ import annotations

import torch

from graders.course.atomics_and_scans.reference import cumsum
from graders.judge.records import Evidence

Sums = torch.Tensor
Found = list[torch.Tensor]


def _alone(block: int, x: torch.Tensor) -> tuple[Sums, Sums] | None:
    """Each block scanned by itself, and the sum of each block at all of its places."""
    n = x.shape[1]
    if n <= block or not x.shape[0]:
        return None
    parts = [x[:, start : start + block] for start in range(0, n, block)]
    sums = [part.sum(dim=1, keepdim=True).expand_as(part) for part in parts]
    return torch.cat([part.cumsum(dim=1) for part in parts], 1), torch.cat(sums, 1)


def _later(values: Sums, block: int) -> Sums:
    """What stood in the block before: 0 in the first one."""
    return torch.nn.functional.pad(values, (block, 0))[:, : values.shape[1]]


def carry_forgotten(block: int, x: torch.Tensor) -> Sums | None:
    found = _alone(block, x)
    return None if found is None else found[0]


def last_block_carried(block: int, x: torch.Tensor) -> Found:
    """Only the sum of the block before is carried on; or only its last element."""
    found = _alone(block, x)
    if found is None or x.shape[1] <= 2 * block:
        return []
    alone, sums = found
    lasts = _spread(x[:, block - 1 :: block], block, x.shape[1])
    return [alone + _later(sums, block), alone + lasts]


def _spread(ends: Sums, block: int, n: int) -> Sums:
    """The number of each block at all places of the block behind it, in rows of n."""
    return torch.nn.functional.pad(ends.repeat_interleave(block, dim=1), (block, 0))[:, :n]


def last_elements_carried(block: int, x: torch.Tensor) -> Sums | None:
    """The last elements of the blocks before are carried on, and not their sums."""
    found = _alone(block, x)
    if found is None:
        return None
    n = x.shape[1]
    ends = torch.nn.functional.pad(x, (0, -n % block))[:, block - 1 :: block].cumsum(dim=1)
    return found[0] + _spread(ends, block, n)


def own_block_carried(block: int, x: torch.Tensor) -> Sums | None:
    """What is carried into a block has its own sum in it."""
    found = _alone(block, x)
    if found is None:
        return None
    alone, sums = found
    before = cumsum(x) - alone
    return alone + before + sums


def later_blocks_carried(block: int, x: torch.Tensor) -> Sums | None:
    """What is carried into a block are the blocks behind it: programs that came first."""
    found = _alone(block, x)
    if found is None:
        return None
    alone, sums = found
    return alone + everywhere(x) - (cumsum(x) - alone) - sums


def carry_doubled(block: int, x: torch.Tensor) -> Found:
    """What is carried is added to what was carried: carry = 2 * carry + sum of the block."""
    n = x.shape[1]
    if n <= 2 * block:
        return []
    carried, parts = torch.zeros(x.shape[0], 1, dtype=x.dtype), []
    for start in range(0, n, block):
        part = x[:, start : start + block]
        parts.append(carried + part.cumsum(dim=1))
        carried = 2 * carried + part.sum(dim=1, keepdim=True)
    return [torch.cat(parts, 1)]


def without_own(x: torch.Tensor) -> Sums:
    """The sum of what stands before an element, without it."""
    return cumsum(x) - x


def backwards(x: torch.Tensor) -> Found:
    """The sum from an element to the end of the row, with it or without."""
    sums = x.flip(1).cumsum(dim=1).flip(1)
    return [sums, sums - x]


def backwards_in_blocks(block: int, x: torch.Tensor) -> Found:
    """Within each block the sum runs from the end; what is carried is right, or there is none."""
    found = _alone(block, x)
    if found is None:
        return []
    alone, sums = found
    turned = sums - alone + x
    return [turned, turned + cumsum(x) - alone]


def down_columns(x: torch.Tensor) -> Sums:
    return x.cumsum(dim=0)


def down_tiles(block: int, x: torch.Tensor) -> Sums | None:
    """Tiles of several rows are scanned down their columns."""
    if not 1 < block < x.shape[0]:
        return None
    return torch.cat([part.cumsum(dim=0) for part in torch.split(x, block)])


def rows_run_on(x: torch.Tensor) -> Sums:
    """The sum goes on from row to row."""
    return x.reshape(-1).cumsum(dim=0).reshape(x.shape)


def rows_run_on_in_groups(block: int, x: torch.Tensor) -> Found:
    """The sum goes on through the rows of one program: neighbours, or those so far apart."""
    m = x.shape[0]
    if not 1 < block < m:
        return []
    neighbours = torch.cat([rows_run_on(part.contiguous()) for part in torch.split(x, block)])
    apart = torch.empty_like(neighbours)
    for first in range(block):
        apart[first::block] = rows_run_on(x[first::block].contiguous())
    return [neighbours, apart]


def everywhere(x: torch.Tensor) -> Sums:
    """The sum of the row at each place."""
    return x.sum(dim=1, keepdim=True).expand_as(x)


def everywhere_in_blocks(block: int, x: torch.Tensor) -> Found:
    """The sum of the block at each of its places, with what came before or without."""
    found = _alone(block, x)
    if found is None:
        return []
    alone, sums = found
    return [sums, sums + cumsum(x) - alone]


def not_summed(x: torch.Tensor) -> Sums:
    return x.clone()


def not_summed_in_blocks(block: int, x: torch.Tensor) -> Sums | None:
    """What came before a block is added to its elements, and the block is not scanned."""
    found = _alone(block, x)
    return None if found is None else x + cumsum(x) - found[0]


def other_scans(x: torch.Tensor) -> Found:
    """Running products, maxima and minima; sums of absolute values and of squares."""
    return [
        x.cumprod(dim=1),
        x.cummax(dim=1).values,
        x.cummin(dim=1).values,
        cumsum(x.abs()),
        cumsum(x * x),
    ]


def averaged(x: torch.Tensor) -> Sums:
    return cumsum(x) / torch.arange(1, x.shape[1] + 1)


def left_out_first(x: torch.Tensor) -> Sums:
    """The first element of a row is in no sum."""
    return cumsum(x) - x[:, :1]


def ends_at_number_of_rows(evidence: Evidence) -> bool:
    """Tell whether each row was stored up to the block that holds column number `rows`.

    That must not be the first block, to which a kernel without a loop comes as well.
    """
    missing = evidence.never_stored
    if missing is None or missing.dim() != 2 or not 0 < missing.shape[0] < missing.shape[1]:
        return False
    rows, columns = missing.shape
    end = int((~missing).any(dim=0).sum())
    if not rows <= end < columns or bool(missing[:, :end].any()):
        return False
    constants = {n for launch in evidence.launches for n in launch.meta.values() if type(n) is int}
    blocks = {block for block in constants if 1 < block < rows}
    return bool(missing[:, end:].all()) and end in {-(-rows // block) * block for block in blocks}
