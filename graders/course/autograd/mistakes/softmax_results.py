"""The gradient of a row-wise softmax, as mistakes would compute it."""

from __future__ import annotations

import torch

from graders.course.autograd.reference import softmax_backward
from graders.course.common.expected import read_as
from graders.course.reductions.mistakes.softmax_results import blocks
from graders.judge.cases.compare import widened

Found = list[torch.Tensor]
MOST_LANES = 1 << 15  # of a row that is filled up
MOST_STEPS = 512  # a pass with more of them is slow


def not_walked(block: int, y: torch.Tensor) -> bool:
    """Whether a row fits into one block, so that nothing shows, or takes too many steps."""
    return not block < y.shape[1] <= MOST_STEPS * block


def _sum(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return (dy * y).sum(dim=1, keepdim=True)


def without_sum(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return y * dy


def diagonal_only(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Each output is taken to depend on its own input alone."""
    return y * (1 - y) * dy


def without_factor(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return dy - _sum(y, dy)


def bracket_lost(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return y * dy - _sum(y, dy)


def factor_at_sum(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return dy - y * _sum(y, dy)


def sum_of_one(y: torch.Tensor, dy: torch.Tensor) -> Found:
    """The sum is one of dy, or of y, alone."""
    return [y * (dy - part.sum(dim=1, keepdim=True)) for part in (dy, y)]


def of_log_softmax(y: torch.Tensor, dy: torch.Tensor) -> Found:
    """The gradient of log_softmax, and y times it."""
    gradient = dy - y * dy.sum(dim=1, keepdim=True)
    return [gradient, y * gradient]


def mean_for_sum(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor | None:
    return y * (dy - _sum(y, dy) / y.shape[1]) if y.shape[1] else None


def sign_reversed(y: torch.Tensor, dy: torch.Tensor) -> Found:
    return [y * (dy + _sum(y, dy)), y * (_sum(y, dy) - dy)]


def softmax_again(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """y is taken for the input, of which the softmax is still to come."""
    return softmax_backward(torch.softmax(y, dim=1), dy)


def arguments_exchanged(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return softmax_backward(dy, y)


def over_columns(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return y * (dy - (dy * y).sum(dim=0))


def over_everything(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return y * (dy - (dy * y).sum())


def down_tiles(block: int, y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor | None:
    """The sum runs down the columns of a tile of rows."""
    if not 1 < block < 2 * y.shape[0] or not y.numel():
        return None
    pairs = zip(torch.split(y, block), torch.split(dy, block), strict=True)
    return torch.cat([over_columns(*pair) for pair in pairs])


def over_tiles(block: int, y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor | None:
    """The sum is that of a tile of rows."""
    if not 1 < block < 2 * y.shape[0] or not y.numel():
        return None
    pairs = zip(torch.split(y, block), torch.split(dy, block), strict=True)
    return torch.cat([over_everything(*pair) for pair in pairs])


def _block_sums(block: int, y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """The sum of each block of each row, (m, number of blocks)."""
    sums = [part.sum(dim=1) for part in blocks(dy * y, block)]
    return torch.stack(sums, dim=1)


def each_block_alone(block: int, y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor | None:
    if not_walked(block, y):
        return None
    pairs = zip(blocks(y, block), blocks(dy, block), strict=True)
    return torch.cat([softmax_backward(*pair) for pair in pairs], dim=1)


def one_block_summed(block: int, y: torch.Tensor, dy: torch.Tensor) -> Found:
    """The sum holds the last block of the row only."""
    if not_walked(block, y):
        return []
    return [y * (dy - _block_sums(block, y, dy)[:, -1:])]


def end_left_out(block: int, y: torch.Tensor, dy: torch.Tensor) -> Found:
    """The sum holds the first block only, or the blocks that are full."""
    if not_walked(block, y):
        return []
    ends = {block, y.shape[1] // block * block}
    return [y * (dy - _sum(y[:, :end], dy[:, :end])) for end in ends]


def end_counted_again(block: int, y: torch.Tensor, dy: torch.Tensor) -> Found:
    """Lanes past the end of the row are moved onto its last column, or round to its first ones."""
    columns = y.shape[1]
    lanes = torch.arange(-(-columns // block) * block if columns else 0)
    if len(lanes) == columns or len(lanes) > MOST_LANES:
        return []
    moved = (lanes.clamp(max=columns - 1), lanes % columns)
    return [y * (dy - (dy * y)[:, lane].sum(dim=1, keepdim=True)) for lane in moved]


def first_block_again(block: int, y: torch.Tensor, dy: torch.Tensor) -> Found:
    """The pass that stores reads the first block of y, of dy or of both in each step."""
    if not_walked(block, y):
        return []
    total, again = _sum(y, dy), torch.arange(y.shape[1]) % block
    pairs = ((y, dy[:, again]), (y[:, again], dy), (y[:, again], dy[:, again]))
    return [mine * (change - total) for mine, change in pairs]


def sum_so_far(block: int, y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor | None:
    """Each block subtracts the sum up to and with itself."""
    if not_walked(block, y):
        return None
    so_far = _block_sums(block, y, dy).cumsum(dim=1)
    return y * (dy - so_far[:, torch.arange(y.shape[1]) // block])


def strides_of_the_other(y: torch.Tensor, dy: torch.Tensor) -> Found:
    """One of the two is read with the strides of the other."""
    if y.stride() == dy.stride():
        return []
    pairs = (
        (y, read_as(dy, tuple(y.shape), y.stride())),
        (read_as(y, tuple(y.shape), dy.stride()), dy),
    )
    read = [(a, b) for a, b in pairs if a is not None and b is not None]
    return [softmax_backward(*widened(pair)) for pair in read]
