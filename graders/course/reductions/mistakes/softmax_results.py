"""Softmax of rows, as mistakes would compute it."""

from __future__ import annotations

import math

import torch

from graders.course.common.detectors import has_fault, has_holes
from graders.course.reductions.reference import row_maximum, softmax
from graders.judge.diagnosis.matching import close
from graders.judge.records import Evidence

LANES_USED = frozenset({"masked-lanes-used"})  # the engine knows where these NaNs come from
LONGER = 64  # columns: shorter rows are in one block
MOST_STEPS = 80  # of a walk through a row; more of them take too long here
WALKED_ANYWAY = 1100  # elements of a row
TILES_OF_ROWS = (2, 4, 8, 16, 32, 64, 128)


def not_walked(block: int, x: torch.Tensor) -> bool:
    """Whether a row fits into one block, so that nothing shows, or is too long to walk through."""
    columns = x.shape[-1]
    return columns <= block or columns > max(WALKED_ANYWAY, MOST_STEPS * block)


def blocks(x: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Return the blocks of `size` columns into which a kernel cuts the rows of x."""
    return [x[..., start : start + size] for start in range(0, x.shape[-1], size)]


def with_base_two(x: torch.Tensor) -> list[torch.Tensor]:
    """Return the shares of 2**x in place of e**x, and of 2**(x ln 2)."""
    return [softmax(x * math.log(2.0)), softmax(x * math.log(2.0) ** 2)]


def clamped(x: torch.Tensor) -> list[torch.Tensor]:
    """Return the softmax of numbers that are cut off where exp would overflow."""
    return [softmax(x.clamp(max=top)) for top in (20.0, 50.0, 60.0, 80.0, 85.0, 87.0, 88.0)]


def without_exp(x: torch.Tensor) -> list[torch.Tensor]:
    """Return shares of the numbers themselves, or of how far they lie above the least."""
    if not x.numel():
        return []
    above = x - x.amin(dim=1, keepdim=True)
    return [part / part.sum(dim=1, keepdim=True) for part in (x, above, x.abs())]


def with_eps(x: torch.Tensor) -> list[torch.Tensor]:
    """Return exp(x - max) / (sum + eps), for the usual ones."""
    weights = torch.exp(x - row_maximum(x))
    total = weights.sum(dim=1, keepdim=True)
    return [weights / (total + 10.0**-power) for power in range(1, 7)]


def rescaled_by_ratio(block: int, x: torch.Tensor) -> list[torch.Tensor]:
    """Return online softmaxes whose old sum is multiplied by a ratio of the two maxima."""
    if not_walked(block, x):
        return []
    found = []
    for upside_down in (False, True):
        highest = blocks(x, block)[0].amax(dim=1, keepdim=True)
        total = torch.zeros((x.shape[0], 1), dtype=x.dtype)
        for part in blocks(x, block):
            larger = torch.maximum(highest, part.amax(dim=1, keepdim=True))
            factor = larger / highest if upside_down else highest / larger
            total = total * factor + torch.exp(part - larger).sum(1, keepdim=True)
            highest = larger
        found.append(torch.exp(x - highest) / total)
    return found


def infinity_as_zero(x: torch.Tensor) -> torch.Tensor | None:
    """Return a softmax that takes -inf for 0."""
    return softmax(x.masked_fill(x.isinf(), 0.0)) if bool(x.isinf().any()) else None


def with_temperature(x: torch.Tensor) -> list[torch.Tensor]:
    """Return the softmax of numbers that were divided by something first."""
    columns = max(1, x.shape[1])
    return [softmax(x * factor) for factor in (columns**-0.5, 1 / columns, 0.5, 2.0)]


def one_too_many(x: torch.Tensor) -> torch.Tensor:
    """Return exp(x - max) / (1 + sum)."""
    weights = torch.exp(x - row_maximum(x))
    return weights / (1 + weights.sum(dim=1, keepdim=True))


def with_stale_maximum(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return exp(x - maximum up to the block) / sum, stored while the maximum was growing."""
    if not_walked(block, x):
        return None
    highest, stored = torch.full((x.shape[0], 1), -float("inf"), dtype=x.dtype), []
    for part in blocks(x, block):
        highest = torch.maximum(highest, part.amax(dim=1, keepdim=True))
        stored.append(torch.exp(part - highest))
    return torch.cat(stored, dim=1) / torch.exp(x - highest).sum(dim=1, keepdim=True)


def stored_on_the_way(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return exp(x - maximum) / sum, both of what the walk has come to when a block is stored."""
    if not_walked(block, x):
        return None
    highest = torch.full((x.shape[0], 1), -float("inf"), dtype=x.dtype)
    total, stored = torch.zeros((x.shape[0], 1), dtype=x.dtype), []
    for part in blocks(x, block):
        larger = torch.maximum(highest, part.amax(dim=1, keepdim=True))
        total = total * torch.exp(highest - larger) + torch.exp(part - larger).sum(1, keepdim=True)
        highest = larger
        stored.append(torch.exp(part - highest) / total)
    return torch.cat(stored, dim=1)


def over_tiles(block: int, x: torch.Tensor) -> list[torch.Tensor]:
    """Return softmaxes whose sum, or maximum and sum, are those of a tile of rows."""
    rows = x.shape[0]
    if not 1 < block < 2 * rows or not x.numel():
        return []
    tiles = torch.split(x, block)
    sums = [torch.exp(tile - row_maximum(tile)) for tile in tiles]
    alone = [tile / tile.sum() for tile in sums]
    whole = [torch.softmax(tile.flatten(), dim=0).view(tile.shape) for tile in tiles]
    return [torch.cat(alone), torch.cat(whole)]


def down_tiles(block: int, x: torch.Tensor) -> list[torch.Tensor]:
    """Return the softmaxes down the columns of each tile of rows: maximum and sum, or the sum."""
    if not 1 < block < 2 * x.shape[0] or not x.numel():
        return []
    whole = [torch.softmax(tile, dim=0) for tile in torch.split(x, block)]
    weights = torch.split(torch.exp(x - row_maximum(x)), block)
    return [torch.cat(whole), torch.cat([tile / tile.sum(0) for tile in weights])]


def divided_by_length(x: torch.Tensor) -> torch.Tensor:
    """Return exp(x - max) divided by how many columns there are."""
    return torch.exp(x - row_maximum(x)) / x.shape[1]


def lanes_wrapped(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return a softmax whose sum counts the lanes beyond the row, wrapped round to its start."""
    columns = x.shape[1]
    if block <= columns:
        return None
    weights = torch.exp(x - row_maximum(x))
    wrapped = weights[:, torch.arange(block) % columns]
    return weights / wrapped.sum(dim=1, keepdim=True)


def lanes_not_merged(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return an online softmax in lanes, whose sums are added without a common maximum."""
    if not_walked(block, x):
        return None
    padded = torch.nn.functional.pad(x, (0, -x.shape[1] % block), value=-float("inf"))
    lanes = padded.view(x.shape[0], -1, block)
    total = torch.exp(lanes - lanes.amax(dim=1, keepdim=True)).nan_to_num(nan=0.0).sum((1, 2))
    return torch.exp(x - row_maximum(x)) / total[:, None]


def blocks_not_merged(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return a softmax of blocks' sums, each about its own maximum, that are added as they are."""
    if not_walked(block, x):
        return None
    sums = [torch.exp(part - row_maximum(part)).sum(1, keepdim=True) for part in blocks(x, block)]
    return torch.exp(x - row_maximum(x)) / torch.cat(sums, dim=1).nansum(dim=1, keepdim=True)


def rescaled_the_wrong_way(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return an online softmax that multiplies the old sum by exp(new - old maximum)."""
    if not_walked(block, x):
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
    if not_walked(block, x):
        return None
    weights = torch.exp(x - row_maximum(x))
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
    if not_walked(block, x):
        return None
    return torch.cat([softmax(part) for part in blocks(x, block)], dim=1)


def sum_not_rescaled(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return an online softmax whose sum keeps the terms of older maxima as they were."""
    if not_walked(block, x):
        return None
    highest = torch.full((x.shape[0], 1), -float("inf"), dtype=x.dtype)
    total = torch.zeros((x.shape[0], 1), dtype=x.dtype)
    for part in blocks(x, block):
        highest = torch.maximum(highest, part.amax(dim=1, keepdim=True))
        total = total + torch.exp(part - highest).sum(dim=1, keepdim=True)
    return torch.exp(x - highest) / total


def _broken_rows(evidence: Evidence) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Which rows are not finite, of a result that is whole, and the largest number of each row."""
    (x,), actual = evidence.args, evidence.actual
    if actual is None or not x.numel() or has_holes(evidence):
        return None
    rows = (~actual.isfinite()).any(dim=1)
    return (rows, x.double().amax(dim=1)) if bool(rows.any()) else None


def overflowed(evidence: Evidence) -> bool:
    """Tell whether exactly rows with large (or very negative) numbers are not finite."""
    found = _broken_rows(evidence)
    if found is None or has_fault(evidence, LANES_USED):
        return False
    rows, largest = found
    return bool(((largest[rows] > 10) | (largest[rows] < -80)).all())


def all_underflowed(evidence: Evidence) -> bool:
    """Tell whether rows far below zero are not finite, and no others."""
    found = _broken_rows(evidence)
    if found is None or has_fault(evidence, LANES_USED):
        return False
    rows, largest = found
    return bool((largest[rows] < -80).all()) and not bool((largest[~rows] < -110).any())


def tiles_underflowed(evidence: Evidence) -> bool:
    """Tell whether rows are broken that lie far below the largest number of their tile of rows."""
    found = _broken_rows(evidence)
    if found is None or has_fault(evidence, LANES_USED):
        return False
    rows, largest = found
    for size in TILES_OF_ROWS:
        highest = torch.cat([part.amax().expand(len(part)) for part in torch.split(largest, size)])
        below = highest - largest
        if bool(rows[below > 110].all()) and bool((below[rows] > 80).all()):
            return True
    return False


def spread_overflowed(evidence: Evidence) -> bool:
    """Tell whether a row is broken only if its largest element is far above its smallest.

    exp overflows at 89. So it does where the minimum or the mean was subtracted, not the maximum.
    """
    found = _broken_rows(evidence)
    if found is None or has_fault(evidence, LANES_USED):
        return False
    rows, largest = found
    spread = largest - evidence.args[0].double().amin(dim=1)
    return bool((spread[rows] > 80).all())


def rescaled_to_infinity(evidence: Evidence) -> bool:
    """Tell whether all of some long rows is NaN.

    exp(new - old) of the first block is infinite where the old maximum starts at -inf, and the
    sum that it multiplies is still 0.
    """
    found = _broken_rows(evidence)
    if found is None or has_fault(evidence, LANES_USED):
        return False
    assert evidence.actual is not None
    return evidence.args[0].shape[1] > LONGER and bool(evidence.actual.isnan().all())


def nan_after_infinity(evidence: Evidence) -> bool:
    """All is right but rows of NaN, and those hold -inf."""
    (x,), actual = evidence.args, evidence.actual
    if actual is None or has_holes(evidence) or not bool(actual.isnan().any()):
        return False
    lost = actual.isnan().any(dim=1)
    infinite = (x == -float("inf")).any(dim=1)
    return bool(infinite[lost].all() and close(actual, evidence.expected)[~lost].all())


def block_maximum_subtracted(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """The exponentials of each block refer to its own maximum, the sum to that of the row."""
    if not_walked(block, x):
        return None
    total = torch.exp(x - row_maximum(x)).sum(dim=1, keepdim=True)
    return torch.cat([torch.exp(part - row_maximum(part)) for part in blocks(x, block)], 1) / total
