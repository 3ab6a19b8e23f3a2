"""Layer normalisation, as mistakes would compute it."""

from __future__ import annotations

import torch

from graders.course.common.detectors import has_holes
from graders.course.reductions.mistakes.softmax_results import blocks, not_walked
from graders.course.reductions.reference import layernorm, row_variance
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence


def normalised(
    x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, eps: float
) -> torch.Tensor:
    """Return (x - mean) / sqrt(variance + eps)."""
    return (x - mean) / torch.sqrt(variance + eps)


def padding_in_variance(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor | None:
    """Return a layer norm whose variance counts the lanes beyond the row, as -mean."""
    return _with_lanes(block, x, weight, bias, eps, x.new_zeros(()))


def padding_in_shifted_variance(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor | None:
    """The same of rows from which their first element was subtracted before."""
    return _with_lanes(block, x, weight, bias, eps, x[:, :1])


def _with_lanes(
    block: int,
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float,
    lane: torch.Tensor,
) -> torch.Tensor | None:
    """Return the layer norm whose variance has block - n_cols elements more, equal to `lane`."""
    columns = x.shape[1]
    if block <= columns:
        return None
    mean = x.mean(dim=1, keepdim=True)
    more = (block - columns) * (lane - mean) ** 2
    squares = ((x - mean) ** 2).sum(dim=1, keepdim=True) + more
    return normalised(x, mean, squares / columns, eps) * weight + bias


def divided_by_block(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms whose mean, variance or both are divided by the block size.

    With each of them the lanes beyond the row may count as zeros in the variance, or not.
    """
    extra = block - x.shape[1]
    if extra <= 0:
        return []
    return [
        normalised(x, mean, (squares + lanes * mean**2) / variance_by, eps) * weight + bias
        for mean, squares, variance_by in _divided_by(block, x)
        for lanes in (0, extra)
    ]


def _divided_by(count: int, x: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor, int]]:
    """Triples of a mean, the sum of squares about it, and the number to divide that sum by.

    Mean, variance or both are divided by `count` in place of the number of columns.
    """
    columns = x.shape[1]
    found = []
    for mean_by, variance_by in ((count, columns), (columns, count), (count, count)):
        mean = x.sum(dim=1, keepdim=True) / mean_by
        found.append((mean, ((x - mean) ** 2).sum(dim=1, keepdim=True), variance_by))
    return found


def last_block_alone(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms whose mean or variance sums up the last block alone."""
    columns = x.shape[1]
    if not_walked(block, x):
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
    if not_walked(block, x):
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
    if block >= columns:
        return []
    lane = torch.arange(columns) % block
    chosen = ((weight[lane], bias), (weight, bias[lane]), (weight[lane], bias[lane]))
    return [layernorm(x, w, b, eps) for w, b in chosen]


def cancelled(evidence: Evidence) -> bool:
    """Tell whether the variance was lost to cancellation: the mean is far above the spread.

    A variance that is nothing but rounding errors scales each row by a wrong factor of its own,
    or makes it NaN. Apart from that factor the row is right.
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


def other_centres(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms about the least, the largest or the first element, or twice the mean.

    The variance is taken about that or about the mean.
    """
    if not x.numel():
        return []
    centres = (x.amin(1, True), x.amax(1, True), x[:, :1], 2 * x.mean(1, True))
    found = []
    for centre in centres:
        for variance in (row_variance(x), ((x - centre) ** 2).mean(1, True)):
            found.append(normalised(x, centre, variance, eps) * weight + bias)
    return found


def other_spreads(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the rows about their mean, divided by something else than the deviation."""
    if not x.numel():
        return []
    centred = x - x.mean(1, True)
    deviation = torch.sqrt(row_variance(x) + eps)
    spreads = (
        *(x.amax(1, True) - x.amin(1, True) + e for e in (0.0, eps)),
        *(centred.abs().mean(1, True) + e for e in (0.0, eps)),
        *(centred.abs().amax(1, True) + e for e in (0.0, eps)),
        deviation.sqrt(),
        1 / deviation,
    )
    return [centred / spread * weight + bias for spread in spreads]


def squares_not_centred(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms whose variance is mean(x²), or that less the mean, not its square."""
    mean, squares = x.mean(1, True), (x * x).mean(1, True)
    return [normalised(x, mean, v, eps) * weight + bias for v in (squares, squares - mean)]


def divided_by_rows(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms whose mean, variance or both are divided by the number of rows."""
    rows, columns = x.shape
    if rows == columns or not rows:
        return []
    return [
        normalised(x, mean, squares / variance_by, eps) * weight + bias
        for mean, squares, variance_by in _divided_by(rows, x)
    ]


def parameters_misapplied(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return layer norms in which weight or bias enters in another way than `· weight + bias`."""
    plain = layernorm(x, torch.ones_like(weight), torch.zeros_like(bias), eps)
    of_row = torch.arange(x.shape[0])[:, None] % max(1, len(weight))
    return [
        plain * (1 + weight) + bias,
        plain * weight * weight + bias,
        plain + weight + bias,
        plain / weight + bias,
        plain * weight - bias,
        plain * weight * bias,
        layernorm(x + bias, weight, 0 * bias, eps),
        layernorm(x * weight, torch.ones_like(weight), bias, eps),
        plain * weight[of_row] + bias,
        plain * weight + bias[of_row],
        plain * weight[of_row] + bias[of_row],
    ]


def _tile_sums(block: int, values: torch.Tensor) -> torch.Tensor:
    """For each row the sum of the rows of its tile, column by column."""
    tile = torch.arange(values.shape[0]) // block
    sums = torch.zeros(int(tile[-1]) + 1, values.shape[1], dtype=values.dtype)
    return sums.index_add(0, tile, values)[tile]


def of_whole_tile(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms whose mean, variance or both are those of `block` rows together.

    Rows of a tile beyond the end of the matrix count as rows of zeros, or do not count.
    """
    rows, columns = x.shape
    if not 1 < block < 2 * rows or not columns:
        return []
    members = _tile_sums(block, torch.ones(rows, 1))

    def over_tile(values: torch.Tensor, count: torch.Tensor | int) -> torch.Tensor:
        return _tile_sums(block, values.sum(1, True)) / (columns * count)

    found = []
    for count in (block, members):
        mean = over_tile(x, count)
        variances = (((x - mean) ** 2).mean(1, True), over_tile((x - mean) ** 2, count))
        own = x.mean(1, True), over_tile((x - x.mean(1, True)) ** 2, count)
        for centre, variance in (*((mean, v) for v in variances), own):
            found.append(normalised(x, centre, variance, eps) * weight + bias)
    return found


def eps_elsewhere(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms with eps outside the root, twice, or as the least variance or
    deviation that there is.
    """
    centred, variance = x - x.mean(1, True), row_variance(x)
    outside = (variance.sqrt() + eps, torch.sqrt(variance + eps) + eps)
    least = (variance.clamp_min(eps).sqrt(), variance.sqrt().clamp_min(eps))
    twice = layernorm(x, weight, bias, 2 * eps)
    return [twice, *(centred / spread * weight + bias for spread in (*outside, *least))]


def eps_ignored(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms with another eps than that of the call, or with none."""
    others = (0.0, *(10.0**-power for power in (3, 4, 5, 6, 7, 8, 12)))
    return [layernorm(x, weight, bias, other) for other in others if other != eps]


def constant_row_divided_by_zero(evidence: Evidence) -> bool:
    """Tell whether exactly the rows whose elements are all alike are NaN: 0 / 0."""
    x, actual = evidence.args[0].double(), evidence.actual
    if actual is None or not x.numel() or has_holes(evidence):
        return False
    alike = (x == x[:, :1]).all(dim=1)
    lost = actual.isnan().all(dim=1)
    return bool(alike.any()) and bool((alike == lost).all())


def block_means_averaged(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the layer norms whose mean is that of the blocks' means, a ragged one as the others.

    The variance is the row's about that mean, or the mean of the blocks' own.
    """
    if not_walked(block, x) or x.shape[1] % block == 0:
        return []
    parts = blocks(x, block)
    mean = torch.stack([part.mean(dim=1, keepdim=True) for part in parts]).mean(dim=0)
    own = torch.stack([((p - mean) ** 2).mean(dim=1, keepdim=True) for p in parts]).mean(dim=0)
    whole = ((x - mean) ** 2).mean(dim=1, keepdim=True)
    right = row_variance(x)
    return [normalised(x, mean, v, eps) * weight + bias for v in (whole, own, right)]


def ones_in_the_mean(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor | None:
    """Return a layer norm whose mean counts the lanes beyond the row as ones."""
    columns = x.shape[1]
    if block <= columns:
        return None
    mean = (x.sum(1, True) + (block - columns)) / columns
    return normalised(x, mean, ((x - mean) ** 2).mean(1, True), eps) * weight + bias


def columns_of_tile(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> list[torch.Tensor]:
    """Return the rows normalised by the mean and variance of each column of a tile of rows.

    The sums are divided by the number of rows of the matrix, of a tile, or of the tile's rows in
    the matrix. Rows of a tile beyond the end of the matrix count as zeros in the variance, or not.
    """
    rows, columns = x.shape
    if not 1 < block < 2 * rows or not columns:
        return []
    members = _tile_sums(block, torch.ones(rows, 1))
    found = []
    for count in (rows, block, members):
        mean = _tile_sums(block, x) / count
        for empty in (0, block - members):
            variance = (_tile_sums(block, (x - mean) ** 2) + empty * mean**2) / count
            found.append(normalised(x, mean, variance, eps) * weight + bias)
    return found
