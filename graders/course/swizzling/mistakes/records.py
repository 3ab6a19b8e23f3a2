"""The misconceptions about an order of launch in groups of rows, the special ones first."""

from __future__ import annotations

from graders.course.common import shared
from graders.course.common.detectors import either
from graders.course.common.expected import computes
from graders.course.swizzling.mistakes import wrong_orders as wrong
from graders.course.swizzling.reference import launch_order
from graders.judge.records import Misconception

MISTAKES = (
    Misconception(
        code="first-row-missing",
        title="Every group starts at row 0",
        message="The row within the group is correct, but the group's first row is not added.",
        next_step="Use `row = first_row + pid_in_group % rows_in_group`.",
        expected_wrong=computes(wrong.with_mistake("first-row-missing")),
    ),
    Misconception(
        code="column-of-whole-id",
        title="The column is computed from the whole pid",
        message=(
            "The first group is correct. In the others the columns are too large: pid counts "
            "all programs, but the column needs the number *within* the group."
        ),
        next_step="Use `column = pid % (group * n_cols) // rows_in_group`.",
        expected_wrong=computes(wrong.with_mistake("column-of-whole-id")),
    ),
    Misconception(
        code="row-of-whole-id",
        title="The row is computed from the whole pid",
        message=(
            "`first_row + pid % rows_in_group` is correct for full groups. A smaller last group "
            "can start with another row: the row needs the number *within* the group."
        ),
        next_step="Use `row = first_row + pid % (group * n_cols) % rows_in_group`.",
        expected_wrong=computes(wrong.with_mistake("row-of-whole-id")),
    ),
    Misconception(
        code="sizes-exchanged",
        title="n_rows and n_cols are exchanged",
        message=(
            "A group has `group * n_cols` tiles, and `n_rows` limits the last group. Here the "
            "two are exchanged, in a formula or in the launch."
        ),
        next_step="Compare the order of the arguments, and use `group * n_cols`.",
        expected_wrong=computes(wrong.with_mistake("sizes-exchanged")),
    ),
    Misconception(
        code="counted-from-one",
        title="Rows and columns are counted from one",
        message=(
            "The order is correct, but rows and columns start at 1. The first tile is (0, 0)."
        ),
        next_step="Remove the `+ 1`.",
        expected_wrong=computes(wrong.with_mistake("counted-from-one")),
    ),
    Misconception(
        code="upwards-in-the-group",
        title="The rows of a group are taken from the bottom up",
        message=("Each tile occurs once, but within a column of a group the last row comes first."),
        next_step="Go down: `row = first_row + pid_in_group % rows_in_group`.",
        expected_wrong=computes(wrong.with_mistake("upwards-in-the-group")),
    ),
    Misconception(
        code="group-fixed",
        title="The group is a fixed number",
        message="The order is grouped, but not with the `group` of the call.",
        next_step="Pass `group` to the kernel and use it.",
        expected_wrong=computes(wrong.fixed_group),
    ),
    Misconception(
        code="last-group-not-clamped",
        title="The last group is taken to be full",
        message=(
            "If `group` does not divide the rows, the last group has fewer. Here it is treated "
            "as full: some programs get rows that do not exist, and real tiles are left out."
        ),
        next_step="Use `size = tl.minimum(n_rows - first_row, group)` for both `%` and `//`.",
        expected_wrong=computes(
            lambda n_rows, n_cols, group: launch_order(n_rows, n_cols, group, clamp=False)
        ),
        detector=either(wrong.wrong_in_part_of_group, wrong.leaves_in_last_group),
    ),
    Misconception(
        code="last-group-is-remainder",
        title="The last group has 0 rows if groups divide the rows",
        message=(
            "The last group is given `n_rows % group` rows. That is 0 if the groups fit "
            "exactly, although the last group is then full."
        ),
        next_step="Use `rows_in_group = tl.minimum(n_rows - first_row, group)` for every group.",
        detector=wrong.wrong_in_full_group,
    ),
    Misconception(
        code="axes-swapped",
        title="Rows and columns are exchanged in the output",
        message="Each pair is (column, row). The contract asks for (row, column).",
        next_step="Store the row at `2 * pid` and the column at `2 * pid + 1`.",
        expected_wrong=computes(
            lambda n_rows, n_cols, group: launch_order(n_rows, n_cols, group).flip(1)
        ),
    ),
    Misconception(
        code="row-major",
        title="The tiles are in plain row-major order",
        message=(
            "Consecutive programs go along one row, so each needs another column of b. They "
            "share blocks of a only."
        ),
        next_step="Go *down* the rows of a group before you go to the next column.",
        expected_wrong=computes(wrong.row_major),
    ),
    Misconception(
        code="column-major",
        title="The tiles are in plain column-major order",
        message="All rows form one group, and the argument `group` has no effect.",
        next_step="Split the rows into groups of `group`, and number one group after the other.",
        expected_wrong=computes(wrong.column_major),
    ),
    Misconception(
        code="columns-grouped",
        title="The columns are grouped, not the rows",
        message="The columns form groups: the order is that of the transposed problem.",
        next_step="Make groups of `group` *rows*, with all their columns.",
        expected_wrong=computes(wrong.grouped_columns),
    ),
    Misconception(
        code="mapping-inverted",
        title="The mapping is inverted",
        message=(
            "The output gives for each tile the program that takes it. The contract asks for "
            "the tile of each program."
        ),
        next_step="Store at entry `pid` the (row, column) of program `pid`.",
        expected_wrong=computes(wrong.inverted),
    ),
    Misconception(
        code="group-not-scaled",
        title="The group's number is used as its first row",
        message="Group 1 starts at row `group`, not at row 1.",
        next_step="Use `first_row = group_id * group`.",
        expected_wrong=computes(wrong.group_numbered),
    ),
    Misconception(
        code="group-height-wrong",
        title="The number of rows of a group is wrong",
        message=(
            "A group has the *smaller* of two numbers of rows: `group`, or the rows from its "
            "first row to the end. Here another number is used."
        ),
        next_step="Use `size = tl.minimum(n_rows - first_row, group)`.",
        expected_wrong=computes(wrong.other_heights),
    ),
    Misconception(
        code="group-width-wrong",
        title="The number of the group is wrong",
        message=(
            "Program `pid` belongs to group `pid // (group * n_cols)`, because a group has "
            "`group * n_cols` tiles. Here the divisor is another number, or the quotient is "
            "rounded up."
        ),
        next_step=(
            "Use `group_id = pid // (group * n_cols)`, and `pid % (group * n_cols)` within the "
            "group."
        ),
        expected_wrong=computes(wrong.other_widths),
    ),
    Misconception(
        code="quotient-for-remainder",
        title="Quotient and remainder are exchanged within the group",
        message=(
            "Rows change fastest: the *remainder* by the number of rows is the row, and the "
            "quotient is the column. Here the two are exchanged."
        ),
        next_step="Use `row = first_row + within % size` and `column = within // size`.",
        expected_wrong=computes(wrong.divided_and_kept),
    ),
    Misconception(
        code="pairs-overlap",
        title="The pairs are one place apart, not two",
        message=(
            "Each program stores its row where the previous program stores its column. So only "
            "the first half of the output is stored."
        ),
        next_step="Store the row at `2 * pid` and the column at `2 * pid + 1`.",
        detector=wrong.pairs_overlap,
        rules_out=frozenset({"grid-too-small", "mask-too-narrow", "programs-race"}),
    ),
    Misconception(
        code="half-stored",
        title="One number of each pair is not stored",
        message="A line of the output has two places, and one of them is never stored.",
        next_step="Store the row at `2 * pid` *and* the column at `2 * pid + 1`.",
        detector=wrong.half_stored,
    ),
    shared.missing_mask("the list of programs", "n_rows * n_cols"),
    shared.grid_too_small("n_rows * n_cols"),
    shared.offset_ignores_pid(),
)
