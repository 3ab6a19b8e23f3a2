"""The misconceptions about the sum of a long row."""

from __future__ import annotations

from dataclasses import replace

import torch

from graders.course.common import rounding, shared, strides
from graders.course.common.detectors import RACES, nan_from_padding, programs
from graders.course.common.expected import (
    computes,
    computes_from_memory,
    computes_with_block,
    read_as,
    walks_through_blocks,
)
from graders.course.common.strays import has_left
from graders.course.reductions.reference import row_sum, row_sum_magnitude
from graders.judge.records import Evidence, Misconception


def _first_block(block: int, x: torch.Tensor) -> torch.Tensor:
    return x[:, :block].sum(dim=1)


def _last_block(block: int, x: torch.Tensor) -> torch.Tensor | None:
    n_cols = x.shape[1]
    return x[:, (n_cols - 1) // block * block :].sum(dim=1) if n_cols else None


def _whole_blocks(block: int, x: torch.Tensor) -> torch.Tensor:
    return x[:, : x.shape[1] // block * block].sum(dim=1)


def _same_block(block: int, x: torch.Tensor) -> torch.Tensor | None:
    steps = -(-x.shape[1] // block)
    return steps * x[:, :block].sum(dim=1) if steps > 1 else None


def _padded_by_one(block: int, x: torch.Tensor) -> torch.Tensor | None:
    extra = -x.shape[1] % block
    return x.sum(dim=1) + extra if extra else None


def _wrapped(block: int, x: torch.Tensor) -> torch.Tensor | None:
    n_cols = x.shape[1]
    extra = -n_cols % block
    return x[:, torch.arange(n_cols + extra) % n_cols].sum(dim=1) if extra and n_cols else None


def _columns(x: torch.Tensor) -> torch.Tensor | None:
    return x.sum(dim=0) if x.shape[0] == x.shape[1] else None


def _strides_exchanged(x: torch.Tensor) -> torch.Tensor | None:
    read = read_as(x, tuple(x.shape), (x.stride(1), x.stride(0)))
    return None if read is None else row_sum(read.double())


def _leaves_oblong(evidence: Evidence) -> bool:
    """Return whether a load left a dense x that is not square: unused strides do not show there."""
    (x,) = evidence.args
    return x.shape[0] != x.shape[1] and x.is_contiguous() and has_left(evidence, x)


def _program_for_each_column(evidence: Evidence) -> bool:
    (x,) = evidence.args
    n_rows, n_cols = tuple(x.shape)
    return bool(n_rows != n_cols and programs(evidence) == n_cols)


ROW_SUM_MISTAKES = (
    shared.other_missing("0.0", nan_from_padding(lambda x: x.shape[1])),
    Misconception(
        code="last-block-only",
        title="The sum contains only the last block of the row",
        message=(
            "Each block's sum replaces the sum so far. Rows that fit into one block do not show it."
        ),
        next_step="Write `total += tl.sum(...)`, starting from 0.0 before the loop.",
        expected_wrong=walks_through_blocks(_last_block, unless=RACES),
    ),
    Misconception(
        code="first-block-only",
        title="The sum contains only the first block of the row",
        message=(
            "The loop over the row is missing, or ends after one step. Rows that fit into one "
            "block do not show it."
        ),
        next_step="Loop over the whole row: `for start in range(0, n_cols, BLOCK_SIZE):`.",
        expected_wrong=walks_through_blocks(_first_block),
    ),
    Misconception(
        code="block-repeated",
        title="The first block is added in each step",
        message="The columns do not depend on the loop's variable, so each step loads the same.",
        next_step="Inside the loop: `cols = start + tl.arange(0, BLOCK_SIZE)`.",
        expected_wrong=walks_through_blocks(_same_block),
    ),
    Misconception(
        code="tail-dropped",
        title="The end of the row is left out",
        message=(
            "The loop covers only the full blocks of a row: `n_cols // BLOCK_SIZE` rounds down."
        ),
        next_step="Use `range(0, n_cols, BLOCK_SIZE)`, and mask the last block.",
        expected_wrong=walks_through_blocks(_whole_blocks),
    ),
    Misconception(
        code="padding-counted",
        title="Masked-off lanes count in the sum",
        message=(
            "The last block is longer than the rest of the row, and its masked-off lanes enter the "
            "sum, as 1 each or as the beginning of the row."
        ),
        next_step="Load them as zero, without `% n_cols`: `mask=cols < n_cols, other=0.0`.",
        expected_wrong=computes_with_block(_padded_by_one, _wrapped),
    ),
    Misconception(
        code="columns-summed",
        title="The columns are summed, not the rows",
        message="Each number is the sum of a column. Only square matrices get this far.",
        next_step="A program's row is fixed; `cols` runs through its elements.",
        expected_wrong=computes(_columns),
    ),
    Misconception(
        code="another-reduction",
        title="The elements are reduced, but not added up",
        message="The result is the mean, the maximum or the sum of absolute values of each row.",
        next_step="Add `tl.sum(x, axis=0)` to the total, and store the total as it is.",
        expected_wrong=computes(
            lambda x: x.mean(dim=1) if x.numel() else None,
            lambda x: x.amax(dim=1) if x.numel() else None,
            lambda x: x.abs().sum(dim=1),
        ),
    ),
    Misconception(
        code="strides-swapped",
        places=True,
        title="Row and column use each other's stride",
        message=(
            "The row is multiplied by the column stride, and the column by the row stride. So the "
            "kernel adds up elements of other rows, or leaves the tensor."
        ),
        next_step="The address is `x_ptr + row * stride_row + cols * stride_col`.",
        expected_wrong=computes_from_memory(_strides_exchanged),
        detector=_leaves_oblong,
    ),
    strides.column_stride_ignored(row_sum),
    shared.contiguous_assumed(row_sum),
    rounding.accumulates_in_half(row_sum_magnitude),
    rounding.lossy_dtype(row_sum),
    replace(shared.programs_by_column(), detector=_program_for_each_column),
    shared.missing_mask("a row", "n_cols"),
    shared.offset_ignores_pid(),
)
