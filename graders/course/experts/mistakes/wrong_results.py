"""What mistakes about the expert of a row would compute, and which rows they would leave out.

The owner of a row is the expert whose matrix it is multiplied by; -1 where nobody stores the row.
"""

from __future__ import annotations

import torch

from graders.course.common.expected import each, read_as
from graders.course.experts.mistakes.of_each_expert import groups

NOBODY = -1


def right_owners(offsets: torch.Tensor) -> torch.Tensor:
    """Return the expert of each row."""
    lengths = torch.tensor([end - first for first, end in groups(offsets)], dtype=torch.int64)
    return torch.repeat_interleave(torch.arange(len(lengths)), lengths)


def product(x: torch.Tensor, w: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
    """Return each row times the matrix of its owner; NaN where there is no such expert."""
    result = torch.full((x.shape[0], w.shape[2]), float("nan"), dtype=torch.float64)
    for expert in range(w.shape[0]):
        mine = owners == expert
        result[mine] = x[mine].double() @ w[expert].double()
    return result


def of_block_start(
    block: int, x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor
) -> list[torch.Tensor]:
    """A tile of rows has the expert of its first, its last or its middle row."""
    owners = right_owners(offsets)
    if block < 2 or not len(owners):
        return []
    first = torch.arange(len(owners)) // block * block
    last = (first + block - 1).clamp(max=len(owners) - 1)
    return [product(x, w, owners[rows]) for rows in (first, last)]


def next_expert(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> list[torch.Tensor]:
    """Each row has the expert after or before its own, round the end or not at all."""
    owners, count = right_owners(offsets), w.shape[0]
    return [
        product(x, w, chosen)
        for step in (1, -1)
        for chosen in (
            owners + step,
            (owners + step) % count,
            (owners + step).clamp(0, count - 1),
        )
    ]


def neighbours_row(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> list[torch.Tensor]:
    """The first row of each expert belongs to the one before, or the last to the next."""
    owners = right_owners(offsets)
    if len(owners) < 2:
        return []
    before, after = torch.cat([owners[:1], owners[:-1]]), torch.cat([owners[1:], owners[-1:]])
    return [product(x, w, before), product(x, w, after)]


def empty_chosen(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> list[torch.Tensor]:
    """The rows behind experts without rows belong to the first or the last of those."""
    owners = right_owners(offsets)
    bounds = groups(offsets)
    starts, ends = [first for first, _ in bounds], [end for _, end in bounds]
    first = torch.tensor([starts.index(start) for start in starts])
    last = torch.tensor([len(ends) - 1 - ends[::-1].index(end) for end in ends])
    nonempty = [number for number, (start, end) in enumerate(bounds) if end > start]
    place = {expert: number for number, expert in enumerate(nonempty)}
    counted = torch.tensor([place.get(expert, 0) for expert in range(len(bounds))])
    return [product(x, w, chosen[owners]) for chosen in (first, last, counted)]


def equal_groups(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> list[torch.Tensor]:
    """Every expert has the same number of rows."""
    rows, count = x.shape[0], w.shape[0]
    sizes = {max(1, rows // count), max(1, -(-rows // count))}
    numbers = torch.arange(rows)
    found = [numbers // size for size in sizes]
    return [product(x, w, owners.clamp(max=count - 1)) for owners in found] + [
        product(x, w, owners) for owners in found if rows and int(owners.max()) >= count
    ]


def first_expert(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Every row is multiplied by w[0]."""
    return product(x, w, torch.zeros(x.shape[0], dtype=torch.int64))


def other_expert_stride(
    x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor
) -> list[torch.Tensor]:
    """The matrices of w are taken to begin closer together than they do, as if w lay densely."""
    count, k, n = w.shape
    owners = right_owners(offsets)
    apart = {1, k, n, k * n, k * k, n * n, w.stride(1), w.stride(2)} - {w.stride(0), 0}
    found = (read_as(w, (count, k, n), (stride, *w.stride()[1:])) for stride in sorted(apart))
    return [product(x, read, owners) for read in each(found)]


def weights_transposed(
    x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor
) -> list[torch.Tensor]:
    """Each matrix of w is read with its two strides exchanged, or as if it had rows of k."""
    _, k, _ = w.shape
    strides = [(w.stride(0), w.stride(2), w.stride(1)), (w.stride(0), k, 1)]
    read = each(read_as(w, tuple(w.shape), chosen) for chosen in strides)
    return [product(x, matrices, right_owners(offsets)) for matrices in read]


def experts_summed(
    block: int, x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor
) -> list[torch.Tensor]:
    """Each row meets the matrices of all experts in its tile, or of all there are."""
    owners, rows = right_owners(offsets), x.shape[0]
    if not rows:
        return []
    met = torch.zeros(-(-rows // block), w.shape[0], dtype=torch.float64)
    met[torch.arange(rows) // block, owners] = 1.0
    sums = torch.einsum("be,ekn->bkn", met, w.double())
    of_tile = torch.cat(
        [x[i * block : (i + 1) * block].double() @ matrix for i, matrix in enumerate(sums)]
    )
    return [of_tile, x.double() @ w.double().sum(0)]


def last_expert_of_tile(
    block: int, x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor
) -> torch.Tensor | None:
    """In a tile of rows that several experts share, the rows of all but the last one are 0."""
    owners, rows = right_owners(offsets), x.shape[0]
    if block < 2 or not rows:
        return None
    ends = (torch.arange(rows) // block * block + block - 1).clamp(max=rows - 1)
    return product(x, w, owners) * (owners == owners[ends])[:, None]


def group_start_forgotten(
    x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor
) -> list[torch.Tensor]:
    """The rows of x are counted from the first row of x for every expert."""
    owners = right_owners(offsets)
    rows = torch.arange(len(owners)) - offsets[owners].long()
    return [product(x[rows], w, owners)]


def lengths_for_offsets(
    x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor
) -> list[torch.Tensor]:
    """offsets[i], or offsets[i + 1], is taken for the number of rows of expert i."""
    rows = x.shape[0]
    found = []
    for lengths in (offsets[:-1], offsets[1:]):
        owners = torch.repeat_interleave(torch.arange(len(lengths)), lengths.long())[:rows]
        found.append(torch.cat([owners, torch.full((rows - len(owners),), NOBODY)]))
    return [product(x, w, owners) for owners in found]
