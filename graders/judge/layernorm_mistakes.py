"""Layer normalisation, right and wrong: reference, magnitude, and what mistakes would compute."""

from __future__ import annotations

import torch

from graders.judge import mistakes, rounding_mistakes
from graders.judge.compare import widened
from graders.judge.footprints import (
    computes,
    computes_with_block,
    either,
    has_holes,
    nan_from_padding,
    without_race,
)
from graders.judge.model import Evidence, Misconception
from graders.judge.softmax_mistakes import blocks, too_many_steps


def row_variance(x: torch.Tensor) -> torch.Tensor:
    """Return the biased variance of each row, as a column."""
    return ((x - x.mean(dim=1, keepdim=True)) ** 2).mean(dim=1, keepdim=True)


def layernorm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor:
    """Return each row with mean 0 and variance 1, times weight, plus bias."""
    variance = row_variance(x)
    return (x - x.mean(dim=1, keepdim=True)) / torch.sqrt(variance + eps) * weight + bias


def layernorm_magnitude(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor:
    """The mean's rounding error, as large as x's own, is divided by the deviation."""
    deviation = torch.sqrt(row_variance(x) + eps)
    size = x.abs() + x.abs().mean(dim=1, keepdim=True)
    return size / deviation * weight.abs() + bias.abs()


def normalised(
    x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, eps: float
) -> torch.Tensor:
    """Return (x - mean) / sqrt(variance + eps)."""
    return (x - mean) / torch.sqrt(variance + eps)


def padding_in_variance(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor | None:
    """Return a layer norm whose variance counts the lanes beyond the row, as -mean."""
    columns = x.shape[1]
    if block <= columns:
        return None
    mean = x.mean(dim=1, keepdim=True)
    squares = ((x - mean) ** 2).sum(dim=1, keepdim=True) + (block - columns) * mean**2
    return normalised(x, mean, squares / columns, eps) * weight + bias


def divided_by_block(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms whose mean, variance or both are divided by the block size.

    With each of them the lanes beyond the row may count as zeros in the variance, or not.
    """
    columns = x.shape[1]
    if block <= columns:
        return []
    found = []
    for mean_by, variance_by in ((block, columns), (columns, block), (block, block)):
        mean = x.sum(dim=1, keepdim=True) / mean_by
        squares = ((x - mean) ** 2).sum(dim=1, keepdim=True)
        for lanes in (0, block - columns):
            variance = (squares + lanes * mean**2) / variance_by
            found.append(normalised(x, mean, variance, eps) * weight + bias)
    return found


def last_block_alone(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms whose mean or variance sums up the last block alone."""
    columns = x.shape[1]
    if too_many_steps(block, x):
        return []
    mean = x.mean(dim=1, keepdim=True)
    squares = (blocks(x, block)[-1] - mean).square().sum(dim=1, keepdim=True)
    of_variance = normalised(x, mean, squares / columns, eps)
    first = x[:, :1]
    means = (
        first + (blocks(x, block)[-1] - first).sum(dim=1, keepdim=True) / columns,
        blocks(x, block)[-1].sum(dim=1, keepdim=True) / columns,
    )
    of_mean = [normalised(x, m, ((x - m) ** 2).mean(dim=1, keepdim=True), eps) for m in means]
    return [result * weight + bias for result in (of_variance, *of_mean)]


def within_blocks_only(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor | None:
    """Return a layer norm whose variance leaves out how far the blocks' means lie apart."""
    if too_many_steps(block, x):
        return None
    parts = blocks(x, block)
    squares = sum((row_variance(part) * part.shape[1] for part in parts), torch.zeros(()))
    mean = x.mean(dim=1, keepdim=True)
    return normalised(x, mean, squares / x.shape[1], eps) * weight + bias


def parameters_of_first_block(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms that read weight, bias or both at the lane, not at the column."""
    columns = x.shape[1]
    if too_many_steps(block, x):
        return []
    lane = torch.arange(columns) % block
    chosen = ((weight[lane], bias), (weight, bias[lane]), (weight[lane], bias[lane]))
    return [layernorm(x, w, b, eps) for w, b in chosen]


def eps_outside(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor:
    """Return a layer norm that adds eps to the deviation."""
    deviation = row_variance(x).sqrt() + eps
    return (x - x.mean(dim=1, keepdim=True)) / deviation * weight + bias


def cancelled(evidence: Evidence) -> bool:
    """The mean is far above the spread, and the rows have a scale that follows no rule.

    A variance that is noise leaves the shape of a row as it is: its scale is wrong, by a
    factor that differs from row to row, or not a number at all.
    """
    x, weight, bias, eps = widened(evidence.args)
    if x.shape[1] < 2 or not x.numel() or evidence.actual is None or has_holes(evidence):
        return False
    ratio = x.mean(dim=1) ** 2 / row_variance(x)[:, 0].clamp_min(1e-30)
    if not bool((ratio > 1e4).all()):
        return False
    shape = layernorm(x, weight, torch.zeros_like(bias), eps)
    got = evidence.actual.double() - bias
    finite = got.isfinite().all(dim=1)
    factor = (got * shape).sum(dim=1, keepdim=True) / shape.square().sum(dim=1, keepdim=True)
    noise = 0.05 * (got.abs() + got.abs().mean(dim=1, keepdim=True))
    same_shape = ((got - factor * shape).abs() <= noise).all(dim=1)
    factors = factor[finite, 0]
    irregular = len(factors) < x.shape[0] or float(factors.std()) > 1e-4 * float(factors.mean())
    return bool((same_shape | ~finite).all()) and irregular


MISTAKES = (
    Misconception(
        code="variance-by-difference",
        everywhere=True,
        title="The variance is lost in a difference of large numbers",
        message=(
            "mean(x²) - mean(x)² is right on paper. In float32, with a mean of 10 000 and a "
            "spread of 1, both terms are about 10⁸ and keep no digits for the difference of "
            "1: the variance becomes noise, even negative, and its root NaN."
        ),
        next_step="Subtract the mean first and average the squares of what is left.",
        footprint=cancelled,
    ),
    Misconception(
        code="padding-counted",
        title="The lanes beyond the row count in the variance",
        message=(
            "They were loaded as 0, but after subtracting the mean they are -mean, and each "
            "adds mean² to the sum of squares. With a mean near zero it hardly shows."
        ),
        next_step="`centred = tl.where(mask, x - mean, 0.0)` before you square.",
        faults=frozenset({"masked-lanes-used"}),
        footprint=either(
            computes_with_block(padding_in_variance),
            nan_from_padding(lambda x, weight, bias, eps: x.shape[1]),
        ),
    ),
    Misconception(
        code="divided-by-block",
        title="The sums are divided by the block size",
        message=(
            "Mean and variance are averages over the `n_cols` elements of the row. The block "
            "is usually longer (`tl.arange` wants a power of two), so dividing by it, or "
            "averaging over all its lanes, makes both too small."
        ),
        next_step="Divide by `n_cols`, not by `BLOCK_SIZE`.",
        footprint=computes_with_block(divided_by_block),
    ),
    Misconception(
        code="unbiased-variance",
        title="The variance is divided by n - 1",
        message=(
            "That is the estimate of a statistician from a sample. Layer normalisation uses "
            "the biased variance, divided by n."
        ),
        next_step="Divide the sum of squares by `n_cols`.",
        imitate=lambda x, weight, bias, eps: (
            normalised(x, x.mean(1, True), row_variance(x) * x.shape[1] / (x.shape[1] - 1), eps)
            * weight
            + bias
        ),
    ),
    Misconception(
        code="eps-outside-root",
        title="The eps of the call is not added under the root",
        message=(
            "The divisor should be √(variance + eps), with the eps that was passed. Here eps "
            "stands outside the root (√variance + eps), or is a fixed number, or is missing."
        ),
        next_step="`tl.sqrt(variance + eps)`, with `eps` as an argument of the kernel.",
        imitate=eps_outside,
        footprint=computes(
            lambda x, weight, bias, eps: layernorm(x, weight, bias, 0.0),
            lambda x, weight, bias, eps: layernorm(x, weight, bias, 1e-5),
            lambda x, weight, bias, eps: layernorm(x, weight, bias, 1e-6),
        ),
    ),
    Misconception(
        code="root-missing",
        title="The row is divided by its variance, not by its deviation",
        message="The square root is missing: the result has the wrong scale.",
        next_step="Divide by `tl.sqrt(variance + eps)`.",
        imitate=lambda x, weight, bias, eps: (
            (x - x.mean(1, True)) / (row_variance(x) + eps) * weight + bias
        ),
        footprint=computes(lambda x, weight, bias, eps: (x - x.mean(1, True)) * weight + bias),
    ),
    Misconception(
        code="sum-not-divided",
        title="The sum of squares is not divided by n",
        message=(
            "The variance is the *mean* of (x - mean)². Without the division the rows come "
            "out too small, the longer the smaller."
        ),
        next_step="`variance = tl.sum(centred * centred, axis=0) / n_cols`.",
        imitate=lambda x, weight, bias, eps: (
            normalised(x, x.mean(1, True), row_variance(x) * x.shape[1], eps) * weight + bias
        ),
        footprint=computes(
            lambda x, weight, bias, eps: (
                normalised(x, x.mean(1, True), row_variance(x) / x.shape[1], eps) * weight + bias
            )
        ),
    ),
    Misconception(
        code="last-block-only",
        title="Only the last block of the row counts",
        message=(
            "In a walk over a long row the sum of each block takes the place of the sum so "
            "far, for the mean or for the variance. Rows that fit into one block do not show "
            "it."
        ),
        next_step="Add each block to the sum, `total += ...`, starting from 0.",
        footprint=without_race(computes_with_block(last_block_alone)),
    ),
    Misconception(
        code="between-blocks-missing",
        title="The distance between the blocks' means is missing",
        message=(
            "Each block's squares are taken about the block's own mean. When blocks are put "
            "together, delta² · n₁ · n₂ / (n₁ + n₂) must be added, where delta is how far "
            "their means lie apart."
        ),
        next_step="Add that term, or find the row's mean first and the squares in a second walk.",
        footprint=computes_with_block(within_blocks_only),
    ),
    Misconception(
        code="parameters-not-advanced",
        title="Weight or bias is always that of the first block",
        message=(
            "Each column has a weight and a bias of its own. From the second block of a long "
            "row on, those of the first block were used again."
        ),
        next_step="Load them with the same column offsets as x, in each step of the loop.",
        footprint=computes_with_block(parameters_of_first_block),
    ),
    Misconception(
        code="mean-not-subtracted",
        title="The mean is not subtracted",
        message="The rows have the right spread, but they are not centred on zero.",
        next_step="Store `(x - mean) / ...`, not `x / ...`.",
        imitate=lambda x, weight, bias, eps: (
            normalised(x, 0 * x, row_variance(x), eps) * weight + bias
        ),
        footprint=computes(
            lambda x, weight, bias, eps: (
                normalised(x, 0 * x, (x * x).mean(1, True), eps) * weight + bias
            )
        ),
    ),
    Misconception(
        code="parameters-exchanged",
        title="Weight and bias are mixed up",
        message=(
            "The result is normalised · weight + bias. Here the two have changed places, or "
            "the bias is added first and multiplied by the weight as well."
        ),
        next_step="Multiply by the weight, then add the bias, and look at the launch's order.",
        footprint=computes(
            lambda x, weight, bias, eps: layernorm(x, bias, weight, eps),
            lambda x, weight, bias, eps: layernorm(x, weight, bias * weight, eps),
        ),
    ),
    Misconception(
        code="weight-missing",
        title="The weight is missing",
        message="The normalised rows are not multiplied by the weight.",
        next_step="Load the weight of each column once and multiply.",
        imitate=lambda x, weight, bias, eps: layernorm(x, 0 * weight + 1, bias, eps),
    ),
    Misconception(
        code="bias-missing",
        title="The bias is missing",
        message="The output is the normalised, weighted row; the bias is not added.",
        next_step="Add the bias of each column at the end.",
        imitate=lambda x, weight, bias, eps: layernorm(x, weight, 0 * bias, eps),
    ),
    Misconception(
        code="columns-normalised",
        title="The columns are normalised, not the rows",
        message="Mean and variance were taken down the columns.",
        next_step="A program takes one row and reduces over the columns.",
        imitate=lambda x, weight, bias, eps: (
            normalised(x, x.mean(0), row_variance(x.t())[:, 0], eps) * weight + bias
        ),
    ),
    mistakes.contiguous_assumed(layernorm),
    rounding_mistakes.computes_in_half(layernorm_magnitude),
    rounding_mistakes.lossy_dtype(layernorm),
    mistakes.missing_mask("a row", "n_cols"),
    mistakes.axis_ignores_pid(),
    mistakes.tiles_missing("n_rows", "n_cols"),
    mistakes.offset_ignores_pid(),
)
