"""Orders of launch in groups of rows, as one wrong line each would compute them."""

from __future__ import annotations

import torch

from graders.exercises.references.swizzling import launch_order
from graders.judge.records import Evidence, Misconception
from graders.misconceptions import shared
from graders.misconceptions.detectors import OUT_OF_BOUNDS, either, has_fault
from graders.misconceptions.expected import Results, computes


def _row_major(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    program = torch.arange(n_rows * n_cols)
    return torch.stack([program // max(1, n_cols), program % max(1, n_cols)], dim=1)


def _column_major(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    program = torch.arange(n_rows * n_cols)
    return torch.stack([program % max(1, n_rows), program // max(1, n_rows)], dim=1)


def _grouped_columns(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    return launch_order(n_cols, n_rows, group).flip(1)


def _inverted(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    order = launch_order(n_rows, n_cols, group)
    place = order[:, 0] * n_cols + order[:, 1]
    inverse = torch.empty_like(place)
    inverse[place] = torch.arange(place.numel())
    return torch.stack([inverse // max(1, n_cols), inverse % max(1, n_cols)], dim=1)


def _group_numbered(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
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


def _other_heights(n_rows: int, n_cols: int, group: int) -> list[torch.Tensor]:
    """The groups have another height than the smaller of `group` and the rows that are left."""
    number = torch.arange(n_rows * n_cols)
    width = max(1, group * n_cols)
    first, within = number // width * group, number % width
    left = n_rows - first
    heights = (torch.clamp(left, min=group), left, torch.full_like(left, n_rows % group))
    exchanged = torch.where(first + group > n_rows, group, left)
    return [_within(first, within, height) for height in (*heights, exchanged)]


def _other_widths(n_rows: int, n_cols: int, group: int) -> list[torch.Tensor]:
    """A group is taken to hold `group` or `n_cols` tiles, or its number is rounded up."""
    number = torch.arange(n_rows * n_cols)
    width = max(1, group * n_cols)
    first = -(-number // width) * group
    rounded_up = _within(first, number % width, torch.clamp(n_rows - first, max=group))
    widths = (group, n_cols)
    return [rounded_up, *(_walked(number, n_rows, n_cols, group, most) for most in widths if most)]


def _divided_and_kept(n_rows: int, n_cols: int, group: int) -> torch.Tensor | None:
    """The quotient is added to the first row, and the remainder is the column."""
    if n_rows * n_cols < 2:
        return None
    order = launch_order(n_rows, n_cols, group)
    first = torch.arange(n_rows * n_cols) // (group * n_cols) * group
    return torch.stack([first + order[:, 1], order[:, 0] - first], dim=1)


def _pairs_overlap(evidence: Evidence) -> bool:
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


def _half_stored(evidence: Evidence) -> bool:
    """One of the two columns was never stored, and the other one everywhere."""
    missing = evidence.never_stored
    if missing is None or not missing.numel():
        return False
    rows, columns = missing[:, 0], missing[:, 1]
    one_alone = rows.all() and not columns.any()
    return bool(one_alone or (columns.all() and not rows.any()))


def _leaves_in_last_group(evidence: Evidence) -> bool:
    """Programs store outside of the list, where the last group is smaller."""
    n_rows, _, group = evidence.args
    return has_fault(evidence, OUT_OF_BOUNDS) and n_rows % group != 0


def _with_mistake(code: str) -> Results:
    """Return the orders that one wrong line gives; none where there is a single program."""

    def wrong(n_rows: int, n_cols: int, group: int) -> list[torch.Tensor]:
        if n_rows * n_cols < 2:
            return []
        orders = [_orders_by_mistake(n_rows, n_cols, group)[code]]
        if code == "sizes-exchanged":
            orders.append(_width_from_rows(n_rows, n_cols, group))
            orders.append(_swizzled_with_exchanged_sizes(n_rows, n_cols, group))
        return orders

    return wrong


def _fixed_group(n_rows: int, n_cols: int, group: int) -> list[torch.Tensor]:
    """The orders of other groups than that of the call.

    A fixed group that holds all rows is the column-major order, which has a name of its own; the
    cases with more rows decide.
    """
    others = [size for size in (2, 3, 4, 8, 16, 32) if size != group]
    return [launch_order(n_rows, n_cols, size) for size in others]


def _wrong_in_last_group(evidence: Evidence) -> bool:
    """Right in all full groups; stored, but wrong, in a last group of more than one column."""
    n_rows, n_cols, group = evidence.args
    actual = evidence.actual
    if actual is None or n_rows % group == 0 or n_rows < group:
        return False
    before = n_rows // group * group * n_cols
    right = torch.equal(actual[:before].long(), evidence.expected[:before].long())
    stored = evidence.never_stored is None or not bool(evidence.never_stored[before:].any())
    return right and stored


def _wrong_in_full_last_group(evidence: Evidence) -> bool:
    """Right but for the last group, in a case whose rows divide into whole groups."""
    n_rows, n_cols, group = evidence.args
    actual, before = evidence.actual, (n_rows - group) * n_cols
    if actual is None or group < 1 or n_rows % group != 0 or before < 0:
        return False
    right = actual.long() == evidence.expected.long()
    return bool(right[:before].all()) and not bool(right[before:].all())


MISTAKES = (
    Misconception(
        code="first-row-missing",
        title="Every group starts at row 0",
        message="The row within the group is right; the group's first row is not added to it.",
        next_step="`row = first_row + pid_in_group % rows_in_group`.",
        expected_wrong=computes(_with_mistake("first-row-missing")),
    ),
    Misconception(
        code="column-of-whole-id",
        title="The column is computed from the whole pid",
        message=(
            "The first group is right. In the others the columns run on past the matrix: pid "
            "counts all programs, and the column needs the number *within* the group."
        ),
        next_step="`column = pid % (group * n_cols) // rows_in_group`.",
        expected_wrong=computes(_with_mistake("column-of-whole-id")),
    ),
    Misconception(
        code="row-of-whole-id",
        title="The row is computed from the whole pid",
        message=(
            "`first_row + pid % rows_in_group` takes each tile once, and in full groups it is "
            "even right. But where the last group is smaller, its first program need not begin "
            "with the first row: pid counts all programs, and the row needs the number *within* "
            "the group. (Old copies of Triton's own tutorial have this line.)"
        ),
        next_step="`row = first_row + pid % (group * n_cols) % rows_in_group`.",
        expected_wrong=computes(_with_mistake("row-of-whole-id")),
    ),
    Misconception(
        code="sizes-exchanged",
        title="n_rows and n_cols are mixed up",
        message=(
            "A group of `group` rows has `group * n_cols` tiles, and `n_rows` says where the "
            "last group ends. Here the two have changed places, in a formula or in the call."
        ),
        next_step="Compare the order of the arguments, and use `group * n_cols`.",
        expected_wrong=computes(_with_mistake("sizes-exchanged")),
    ),
    Misconception(
        code="counted-from-one",
        title="Rows and columns are counted from one",
        message="The order is right, but the first tile is (0, 0), as everywhere in Triton.",
        next_step="Leave out the `+ 1`.",
        expected_wrong=computes(_with_mistake("counted-from-one")),
    ),
    Misconception(
        code="upwards-in-the-group",
        title="The rows of a group are taken from below",
        message="Each tile comes once, but within a column of a group the lowest row is first.",
        next_step="`row = first_row + pid_in_group % rows_in_group`: go down.",
        expected_wrong=computes(_with_mistake("upwards-in-the-group")),
    ),
    Misconception(
        code="group-fixed",
        title="The group is a fixed number",
        message="The order is a grouped one, but not with the `group` of the call.",
        next_step="Hand `group` to the kernel and use it.",
        expected_wrong=computes(_fixed_group),
    ),
    Misconception(
        code="last-group-not-clamped",
        title="The last group is taken to be full",
        message=(
            "Where the rows do not divide into whole groups, the last group is smaller. "
            "Dividing by `group` there sends some programs to rows that do not exist and "
            "leaves real tiles out: the mapping is no bijection any more."
        ),
        next_step="Use `size = min(n_rows - first_row, group)` for both `%` and `//`.",
        expected_wrong=computes(
            lambda n_rows, n_cols, group: launch_order(n_rows, n_cols, group, clamp=False)
        ),
        detector=either(_wrong_in_last_group, _leaves_in_last_group),
    ),
    Misconception(
        code="last-group-is-remainder",
        title="The last group has no rows where groups divide the rows",
        message=(
            "The last group is given `n_rows % group` rows. Where the groups fit exactly that is "
            "0: the last group, which is full, is divided by nothing. With rows left over it is "
            "right."
        ),
        next_step="`rows_in_group = min(n_rows - first_row, group)` holds for every group.",
        detector=_wrong_in_full_last_group,
    ),
    Misconception(
        code="axes-swapped",
        title="Rows and columns are stored the wrong way round",
        message="Each pair is (column, row). The contract wants (row, column).",
        next_step="Store the row at `2 * pid` and the column at `2 * pid + 1`.",
        expected_wrong=computes(
            lambda n_rows, n_cols, group: launch_order(n_rows, n_cols, group).flip(1)
        ),
    ),
    Misconception(
        code="row-major",
        title="The tiles are in plain row-major order",
        message=(
            "Program after program walks along one row, so each needs a different column "
            "of b: nothing of it is reused while it is in the cache."
        ),
        next_step="Walk *down* the rows of a group before moving to the next column.",
        expected_wrong=computes(_row_major),
    ),
    Misconception(
        code="column-major",
        title="The tiles are in plain column-major order",
        message="All rows form one group here; the argument `group` plays no part.",
        next_step="Cut the rows into groups of `group` and walk through each in turn.",
        expected_wrong=computes(_column_major),
    ),
    Misconception(
        code="columns-grouped",
        title="The columns are grouped, not the rows",
        message="The order is that of the transposed problem.",
        next_step="A group is `group` *rows* with all their columns.",
        expected_wrong=computes(_grouped_columns),
    ),
    Misconception(
        code="mapping-inverted",
        title="The mapping is turned round",
        message=(
            "The output tells for each tile which program takes it. Asked for is, for each "
            "program in launch order, the tile that it takes."
        ),
        next_step="Entry `pid` of the output is the (row, column) of program `pid`.",
        expected_wrong=computes(_inverted),
    ),
    Misconception(
        code="group-not-scaled",
        title="The group's number is used as its first row",
        message="Group 1 starts at row `group`, not at row 1.",
        next_step="`first_row = group_id * group`.",
        expected_wrong=computes(_group_numbered),
    ),
    Misconception(
        code="group-height-wrong",
        title="The number of rows of a group is not the smaller of two",
        message=(
            "A group has `group` rows, or as many as are left from its first row to the end, "
            "whichever is *less*. Here another number is taken: the larger of the two, one of "
            "them for every group, or the two in each other's place."
        ),
        next_step="`size = min(n_rows - first_row, group)`.",
        expected_wrong=computes(_other_heights),
    ),
    Misconception(
        code="group-width-wrong",
        title="The number of the group is wrong",
        message=(
            "Program `pid` belongs to group `pid // (group * n_cols)`: a group of `group` rows "
            "holds `group * n_cols` tiles, and the division rounds *down*. Here it is divided by "
            "another number of tiles, or rounded up."
        ),
        next_step="`group_id = pid // (group * n_cols)`, and `pid % (group * n_cols)` within it.",
        expected_wrong=computes(_other_widths),
    ),
    Misconception(
        code="quotient-for-remainder",
        title="Quotient and remainder are exchanged within the group",
        message=(
            "Rows change fastest, so the *remainder* by the number of rows is the row, and the "
            "quotient is the column. Here it is the other way round."
        ),
        next_step="`row = first_row + within % size` and `column = within // size`.",
        expected_wrong=computes(_divided_and_kept),
    ),
    Misconception(
        code="pairs-overlap",
        title="The pairs lie one place apart, not two",
        message=(
            "Only the front half of the output was stored, because each program stores its row "
            "where the one before stores its column. A pair takes two places, so program `pid` "
            "starts at `2 * pid`."
        ),
        next_step="Store the row at `2 * pid` and the column at `2 * pid + 1`.",
        detector=_pairs_overlap,
        rules_out=frozenset({"grid-too-small", "mask-too-narrow", "programs-race"}),
    ),
    Misconception(
        code="half-stored",
        title="Of each pair one number was never stored",
        message="A line of the output has two places, and one of them stays as it was allocated.",
        next_step="Store the row at `2 * pid` *and* the column at `2 * pid + 1`.",
        detector=_half_stored,
    ),
    shared.missing_mask("the list of programs", "n_rows * n_cols"),
    shared.grid_too_small("n_rows * n_cols"),
    shared.offset_ignores_pid(),
)
