"""Orders of launch in groups of rows, as one wrong line each would compute them."""

from __future__ import annotations

import torch

from graders.course.common.detectors import OUT_OF_BOUNDS, has_fault
from graders.course.common.expected import Results
from graders.course.swizzling.reference import launch_order
from graders.judge.records import Evidence


def row_major(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    program = torch.arange(n_rows * n_cols)
    return torch.stack([program // max(1, n_cols), program % max(1, n_cols)], dim=1)


def column_major(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    program = torch.arange(n_rows * n_cols)
    return torch.stack([program % max(1, n_rows), program // max(1, n_rows)], dim=1)


def grouped_columns(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    return launch_order(n_cols, n_rows, group).flip(1)


def inverted(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    order = launch_order(n_rows, n_cols, group)
    place = order[:, 0] * n_cols + order[:, 1]
    inverse = torch.empty_like(place)
    inverse[place] = torch.arange(place.numel())
    return torch.stack([inverse // max(1, n_cols), inverse % max(1, n_cols)], dim=1)


def group_numbered(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    """The group's number taken for its first row."""
    order = launch_order(n_rows, n_cols, group)
    number = torch.arange(n_rows * n_cols) // max(1, group * n_cols)
    order[:, 0] += number - number * group
    return order


def _orders_by_mistake(n_rows: int, n_cols: int, group: int) -> dict[str, torch.Tensor]:
    """The orders that one wrong line each gives, by the code of the misconception."""
    order = launch_order(n_rows, n_cols, group)
    program = torch.arange(n_rows * n_cols)[:, None]
    width = max(1, group * n_cols)
    first = program // width * group
    size = torch.clamp(n_rows - first, max=group)
    height = order[:, :1] - first
    row, column = order[:, :1], order[:, 1:]
    return {
        "first-row-missing": torch.cat([height, column], 1),
        "column-of-whole-id": torch.cat([row, program // size], 1),
        "row-of-whole-id": torch.cat([first + program % size, column], 1),
        "sizes-exchanged": launch_order(n_cols, n_rows, group),
        "counted-from-one": order + 1,
        "upwards-in-the-group": torch.cat([first + size - 1 - height, column], 1),
    }


def _width_from_rows(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    """A group is taken to hold group * n_rows tiles."""
    program = torch.arange(n_rows * n_cols)
    width = max(1, group * n_rows)
    first = program // width * group
    size = torch.clamp(n_rows - first, max=group)
    size = torch.where(size == 0, 1, size)
    within = program % width
    rounded = [torch.div(within, size, rounding_mode="trunc"), torch.fmod(within, size)]
    return torch.stack([first + rounded[1], rounded[0]], dim=1)


def _groups_looked_for_by_rows(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    """Only the first row of a full group is looked for as if it held group * n_rows tiles.

    What is left over has its group told apart by the number of tiles in full groups.
    """
    program = torch.arange(n_rows * n_cols)
    whole = n_rows // group * group
    full = program < whole * n_cols
    first = torch.where(full, program // max(1, group * n_rows) * group, whole)
    size = torch.where(full, group, max(1, n_rows % group))
    return _within(first, program - first * n_cols, size)


def _swizzled_with_exchanged_sizes(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    """Return what `tl.swizzle2d` gives for the right id and exchanged sizes."""
    program = torch.arange(n_rows * n_cols)
    number = program // n_cols * n_rows + program % n_cols
    return _walked(number, n_cols, n_rows, group)


def _walked(
    number: torch.Tensor, n_rows: int, n_cols: int, group: int, width: int | None = None
) -> torch.Tensor:
    """Return the tiles of these numbers; `width`: how many tiles a group is said to hold."""
    width = group * n_cols if width is None else width
    first = number // width * group
    size = torch.clamp(n_rows - first, max=group)
    return _within(first, number % width, size)


def _within(first: torch.Tensor, number: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    """Return rows and columns as Triton divides; a size of 0 leaves both unknown: NaN."""
    unknown = size == 0
    size = torch.where(unknown, 1, size)
    row = first + torch.fmod(number, size)
    column = torch.div(number, size, rounding_mode="trunc")
    tiles = torch.stack([row, column], dim=1).double()
    return tiles.masked_fill(unknown[:, None], float("nan"))


def other_heights(n_rows: int, n_cols: int, group: int) -> list[torch.Tensor]:
    """The groups have another height than the smaller of `group` and the rows that are left."""
    number = torch.arange(n_rows * n_cols)
    width = max(1, group * n_cols)
    first, within = number // width * group, number % width
    left = n_rows - first
    heights = (torch.clamp(left, min=group), left, torch.full_like(left, n_rows % group))
    exchanged = torch.where(first + group > n_rows, group, left)
    return [_within(first, within, height) for height in (*heights, exchanged)]


def other_widths(n_rows: int, n_cols: int, group: int) -> list[torch.Tensor]:
    """A group is taken to hold `group` or `n_cols` tiles, or its number is rounded up."""
    number = torch.arange(n_rows * n_cols)
    width = max(1, group * n_cols)
    first = -(-number // width) * group
    rounded_up = _within(first, number % width, torch.clamp(n_rows - first, max=group))
    widths = (group, n_cols)
    return [rounded_up, *(_walked(number, n_rows, n_cols, group, most) for most in widths if most)]


def divided_and_kept(n_rows: int, n_cols: int, group: int) -> torch.Tensor | None:
    """The quotient is added to the first row, and the remainder is the column."""
    if n_rows * n_cols < 2:
        return None
    order = launch_order(n_rows, n_cols, group)
    first = torch.arange(n_rows * n_cols) // (group * n_cols) * group
    return torch.stack([first + order[:, 1], order[:, 0] - first], dim=1)


def pairs_overlap(evidence: Evidence) -> bool:
    """Whether the front half of the output holds only rows, or only columns, and the rest nothing.

    Each program stores its pair one place behind the program before it, so pairs overlap. Which
    half of a pair is left depends on the order in which the programs run.
    """
    actual, missing = evidence.actual, evidence.never_stored
    total = evidence.expected.shape[0]
    if actual is None or missing is None or total < 3:
        return False
    flat, (rows, columns) = actual.flatten().long(), evidence.expected.long().T
    front = torch.equal(flat[:total], rows) or torch.equal(flat[1 : total + 1], columns)
    return front and bool(missing.flatten()[total + 1 :].all())


def half_stored(evidence: Evidence) -> bool:
    """One of the two columns was never stored, and the other one everywhere."""
    missing = evidence.never_stored
    if missing is None or not missing.numel():
        return False
    rows, columns = missing[:, 0], missing[:, 1]
    one_alone = rows.all() and not columns.any()
    return bool(one_alone or (columns.all() and not rows.any()))


def leaves_in_last_group(evidence: Evidence) -> bool:
    """Programs store outside of the list, where the last group is smaller."""
    n_rows, _, group = evidence.args
    return has_fault(evidence, OUT_OF_BOUNDS) and n_rows % group != 0


def with_mistake(code: str) -> Results:
    """Return the orders that one wrong line gives; none where there is a single program."""

    def wrong(n_rows: int, n_cols: int, group: int) -> list[torch.Tensor]:
        if n_rows * n_cols < 2:
            return []
        orders = [_orders_by_mistake(n_rows, n_cols, group)[code]]
        if code == "sizes-exchanged":
            orders.append(_width_from_rows(n_rows, n_cols, group))
            orders.append(_swizzled_with_exchanged_sizes(n_rows, n_cols, group))
            orders.append(_groups_looked_for_by_rows(n_rows, n_cols, group))
        return orders

    return wrong


def fixed_group(n_rows: int, n_cols: int, group: int) -> list[torch.Tensor]:
    """The orders of other groups than that of the call.

    A fixed group that holds all rows is the column-major order, which has a name of its own; the
    cases with more rows decide.
    """
    others = [size for size in (2, 3, 4, 8, 16, 32) if size != group]
    return [launch_order(n_rows, n_cols, size) for size in others]


def _wrong_in_last_group(evidence: Evidence) -> bool:
    """Right in all groups before the last one, wrong in that one."""
    n_rows, n_cols, group = evidence.args
    actual = evidence.actual
    if actual is None or not 1 <= group <= n_rows:
        return False
    before = (n_rows - 1) // group * group * n_cols
    right = actual.long() == evidence.expected.long()
    return bool(right[:before].all()) and not bool(right[before:].all())


def wrong_in_part_of_group(evidence: Evidence) -> bool:
    """Wrong in a last group that is not full, though all of it was stored."""
    n_rows, n_cols, group = evidence.args
    if n_rows % max(group, 1) == 0 or not _wrong_in_last_group(evidence):
        return False
    last = n_rows // group * group * n_cols
    return evidence.never_stored is None or not bool(evidence.never_stored[last:].any())


def wrong_in_full_group(evidence: Evidence) -> bool:
    """Wrong in a last group that is full, with rows that lie in it."""
    n_rows, n_cols, group = evidence.args
    if n_rows % max(group, 1) != 0 or not _wrong_in_last_group(evidence):
        return False
    assert evidence.actual is not None
    rows = evidence.actual[(n_rows - group) * n_cols :, 0]
    return bool((rows >= n_rows - group).all())
