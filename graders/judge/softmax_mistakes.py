"""Softmax of rows, right and wrong: reference, magnitude, and what mistakes would compute."""

from __future__ import annotations

import math

import torch

from graders.judge import mistakes, rounding_mistakes
from graders.judge.footprints import (
    close,
    computes,
    computes_with_block,
    either,
    has_holes,
    nan_from_padding,
    without_race,
)
from graders.judge.model import Evidence, Misconception

SMALLEST_BLOCK, LONGEST_ROW = 16, 1100  # of a walk in blocks that is imitated


def too_many_steps(block: int, x: torch.Tensor) -> bool:
    """Whether to leave out the imitation of a walk: rare block sizes, or long rows."""
    return not SMALLEST_BLOCK <= block < x.shape[-1] <= LONGEST_ROW


def blocks(x: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Return the blocks of `size` columns into which a kernel cuts the rows of x."""
    return [x[..., start : start + size] for start in range(0, x.shape[-1], size)]


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row."""
    return torch.softmax(x, dim=-1)


def softmax_magnitude(x: torch.Tensor) -> torch.Tensor:
    """exp makes an error in its argument, which grows with the argument, a relative error.

    The argument is x - max, or, before the maximum is subtracted, x times log2(e) for exp2.
    """
    return (softmax(x) * (1 + 2 * x.abs() + _largest(x).abs())).nan_to_num(nan=0.0)


def _largest(x: torch.Tensor) -> torch.Tensor:
    """The maximum of each row, as a column."""
    return x.amax(dim=-1, keepdim=True) if x.numel() else x


def with_base_two(x: torch.Tensor) -> torch.Tensor:
    """Return the shares of 2**x in place of e**x."""
    return softmax(x * math.log(2.0))


def divided_by_length(x: torch.Tensor) -> torch.Tensor:
    """Return exp(x - max) divided by how many columns there are."""
    return torch.exp(x - _largest(x)) / x.shape[1]


def lanes_wrapped(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return a softmax whose sum counts the lanes beyond the row, wrapped round to its start."""
    columns = x.shape[1]
    if block <= columns:
        return None
    weights = torch.exp(x - _largest(x))
    wrapped = weights[:, torch.arange(block) % columns]
    return weights / wrapped.sum(dim=1, keepdim=True)


def lanes_not_merged(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return an online softmax in lanes, whose sums are added without a common maximum."""
    if too_many_steps(block, x):
        return None
    padded = torch.nn.functional.pad(x, (0, -x.shape[1] % block), value=-float("inf"))
    lanes = padded.view(x.shape[0], -1, block)
    total = torch.exp(lanes - lanes.amax(dim=1, keepdim=True)).nan_to_num(nan=0.0).sum((1, 2))
    return torch.exp(x - _largest(x)) / total[:, None]


def rescaled_the_wrong_way(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return an online softmax that multiplies the old sum by exp(new - old maximum)."""
    if too_many_steps(block, x):
        return None
    highest = blocks(x, block)[0].amax(dim=1, keepdim=True)
    total = torch.zeros((x.shape[0], 1), dtype=x.dtype)
    for part in blocks(x, block):
        larger = torch.maximum(highest, part.amax(dim=1, keepdim=True))
        total = total * torch.exp(larger - highest) + torch.exp(part - larger).sum(1, keepdim=True)
        highest = larger
    return torch.exp(x - highest) / total


def last_block_summed(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return a softmax whose sum is that of the last block alone."""
    if too_many_steps(block, x):
        return None
    weights = torch.exp(x - _largest(x))
    return weights / blocks(weights, block)[-1].sum(dim=1, keepdim=True)


def padding_counted(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return the softmax of rows padded with zeros to the length of a block."""
    columns = x.shape[1]
    if block <= columns:
        return None
    weights = torch.exp(x)
    return weights / (weights.sum(dim=1, keepdim=True) + (block - columns))


def each_block_alone(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return the softmax of each block of a row for itself."""
    if too_many_steps(block, x):
        return None
    return torch.cat([softmax(part) for part in blocks(x, block)], dim=1)


def sum_not_rescaled(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return an online softmax whose sum keeps the terms of older maxima as they were."""
    if too_many_steps(block, x):
        return None
    highest = torch.full((x.shape[0], 1), -float("inf"), dtype=x.dtype)
    total = torch.zeros((x.shape[0], 1), dtype=x.dtype)
    for part in blocks(x, block):
        highest = torch.maximum(highest, part.amax(dim=1, keepdim=True))
        total = total + torch.exp(part - highest).sum(dim=1, keepdim=True)
    return torch.exp(x - highest) / total


def overflowed(evidence: Evidence) -> bool:
    """Tell whether exactly rows with large (or very negative) numbers are not finite."""
    (x,) = evidence.args
    actual = evidence.actual
    if actual is None or not x.numel() or has_holes(evidence):
        return False
    rows = (~actual.isfinite()).any(dim=1)
    largest = x.double().amax(dim=1)
    return bool(rows.any()) and bool(((largest[rows] > 10) | (largest[rows] < -80)).all())


def nan_after_infinity(evidence: Evidence) -> bool:
    """All is right but rows of NaN, and those hold -inf."""
    (x,), actual = evidence.args, evidence.actual
    if actual is None or has_holes(evidence) or not bool(actual.isnan().any()):
        return False
    lost = actual.isnan().any(dim=1)
    infinite = (x == -float("inf")).any(dim=1)
    return bool(infinite[lost].all() and close(actual, evidence.expected)[~lost].all())


MISTAKES = (
    Misconception(
        code="max-not-subtracted",
        title="exp overflows: the row's maximum is not subtracted",
        message=(
            "exp(89) is already too large for float32. It becomes inf, and inf / inf is NaN. "
            "(And where all of a row is far below zero, every exp is 0, and 0 / 0 is NaN.) "
            "Subtracting the row's maximum changes nothing mathematically and keeps every "
            "exponent at 0 or below. It has to be the maximum of the *whole* row: one that is "
            "kept running starts at -inf, not at 0, and takes in every block."
        ),
        next_step="Compute `tl.exp(x - tl.max(x, axis=0))`.",
        footprint=overflowed,
    ),
    Misconception(
        code="hidden-block-nan",
        title="A block of nothing but -inf gives NaN",
        message=(
            "Where a whole block of a row is -inf, the maximum so far is still -inf, and "
            "-inf - (-inf) is NaN. From there it stays in the sum. (A row that is not -inf as a "
            "whole has a softmax.)"
        ),
        next_step="Subtract 0 in place of the maximum as long as that is -inf.",
        footprint=nan_after_infinity,
    ),
    Misconception(
        code="padding-counted",
        title="The lanes beyond the row count in the sum",
        message=(
            "The block is longer than the row, and the lanes that do not exist were loaded "
            "as 0. exp(0) is 1, not 0: each of them adds a full term to the sum, so every "
            "probability comes out too small and a row no longer sums to 1. (Lanes that are "
            "wrapped round with `% n_cols` count real elements a second time.)"
        ),
        next_step="Load them with `other=-float('inf')`: exp(-inf) is 0.",
        faults=frozenset({"masked-lanes-used"}),
        footprint=either(
            computes_with_block(padding_counted),
            computes_with_block(lanes_wrapped),
            nan_from_padding(lambda x: x.shape[1]),
        ),
    ),
    Misconception(
        code="rescaling-missing",
        title="The sum is not rescaled when the maximum grows",
        message=(
            "Terms of earlier blocks were computed with an older, smaller maximum. When a "
            "later block raises it, the old sum must be multiplied by exp(old max - new max) "
            "before the new terms are added. (The same holds for sums of several lanes or "
            "programs that are put together: each is first brought to the common maximum.)"
        ),
        next_step="`row_sum = row_sum * tl.exp(row_max - new_max) + tl.sum(...)`.",
        footprint=either(
            computes_with_block(sum_not_rescaled),
            computes_with_block(rescaled_the_wrong_way),
            computes_with_block(lanes_not_merged),
        ),
    ),
    Misconception(
        code="last-block-only",
        title="The sum holds the last block of the row only",
        message=(
            "Each block's sum takes the place of the sum so far, instead of being added to "
            "it. Rows that fit into one block do not show it."
        ),
        next_step="`row_sum += tl.sum(...)`, starting from 0 before the loop.",
        footprint=without_race(computes_with_block(last_block_summed)),
    ),
    Misconception(
        code="blocks-normalised-alone",
        title="Each block of a row is normalised on its own",
        message=(
            "A long row is cut into blocks, and each block sums to 1 by itself. The maximum "
            "and the sum must be those of the whole row."
        ),
        next_step="First walk through the whole row for maximum and sum, then normalise.",
        footprint=computes_with_block(each_block_alone),
    ),
    Misconception(
        code="columns-normalised",
        title="The columns are normalised, not the rows",
        message="Each column sums to 1: the reduction runs along the wrong axis.",
        next_step="A program takes one row and reduces over the columns.",
        imitate=lambda x: torch.softmax(x, dim=0),
    ),
    Misconception(
        code="everything-normalised",
        title="The whole matrix is normalised at once",
        message="All elements together sum to 1, instead of each row.",
        next_step="With a tile of rows reduce along `axis=1` and keep `[:, None]`.",
        imitate=lambda x: torch.softmax(x.flatten(), dim=0).view(x.shape),
    ),
    Misconception(
        code="not-normalised",
        title="The division by the sum is missing",
        message=(
            "The output is exp(x - max), or that divided by the number of columns: a row does "
            "not sum to 1 yet."
        ),
        next_step="Divide by `tl.sum(numerator, axis=0)`.",
        imitate=lambda x: torch.exp(x - x.amax(dim=1, keepdim=True)),
        footprint=computes(lambda x: torch.exp(x), divided_by_length),
    ),
    Misconception(
        code="logarithm-returned",
        title="This is the logarithm of the softmax",
        message="The output is x - max - log(sum): what a loss wants, and not the shares.",
        next_step="Store `numerator / tl.sum(numerator, axis=0)`, without a logarithm.",
        footprint=computes(lambda x: torch.log_softmax(x, dim=1)),
    ),
    Misconception(
        code="base-two",
        title="The powers are powers of 2, not of e",
        message=(
            "2**(x - max) sums to 1 as well, but the shares lie too close together. exp2 is "
            "exp only when its argument is multiplied by log2(e) = 1.442695."
        ),
        next_step="Use `tl.exp(...)`, or `tl.exp2(... * 1.4426950408889634)`.",
        footprint=computes(with_base_two),
    ),
    Misconception(
        code="sign-reversed",
        title="The smallest elements get the largest shares",
        message="The output is the softmax of -x: somewhere the sign is turned round.",
        next_step="The exponent is `x - maximum`, not `maximum - x` or `minimum - x`.",
        footprint=computes(lambda x: softmax(-x)),
    ),
    mistakes.contiguous_assumed(softmax),
    rounding_mistakes.computes_in_half(softmax_magnitude),
    rounding_mistakes.lossy_dtype(softmax),
    mistakes.missing_mask("a row", "n_cols"),
    mistakes.axis_ignores_pid(),
    mistakes.tiles_missing("n_rows", "n_cols"),
    mistakes.offset_ignores_pid(),
)
