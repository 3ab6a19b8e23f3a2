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
        message="The row within the group is right; the group's first row is not added to it.",
        next_step="`row = first_row + pid_in_group % rows_in_group`.",
        expected_wrong=computes(wrong.with_mistake("first-row-missing")),
    ),
    Misconception(
        code="column-of-whole-id",
        title="The column is computed from the whole pid",
        message=(
            "The first group is right. In the others the columns run on past the matrix: pid "
            "counts all programs, and the column needs the number *within* the group."
        ),
        next_step="`column = pid % (group * n_cols) // rows_in_group`.",
        expected_wrong=computes(wrong.with_mistake("column-of-whole-id")),
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
        expected_wrong=computes(wrong.with_mistake("row-of-whole-id")),
    ),
    Misconception(
        code="sizes-exchanged",
        title="n_rows and n_cols are mixed up",
        message=(
            "A group of `group` rows has `group * n_cols` tiles, and `n_rows` says where the "
            "last group ends. Here the two have changed places, in a formula or in the call."
        ),
        next_step="Compare the order of the arguments, and use `group * n_cols`.",
        expected_wrong=computes(wrong.with_mistake("sizes-exchanged")),
    ),
    Misconception(
        code="counted-from-one",
        title="Rows and columns are counted from one",
        message="The order is right, but the first tile is (0, 0), as everywhere in Triton.",
        next_step="Leave out the `+ 1`.",
        expected_wrong=computes(wrong.with_mistake("counted-from-one")),
    ),
    Misconception(
        code="upwards-in-the-group",
        title="The rows of a group are taken from below",
        message="Each tile comes once, but within a column of a group the lowest row is first.",
        next_step="`row = first_row + pid_in_group % rows_in_group`: go down.",
        expected_wrong=computes(wrong.with_mistake("upwards-in-the-group")),
    ),
    Misconception(
        code="group-fixed",
        title="The group is a fixed number",
        message="The order is a grouped one, but not with the `group` of the call.",
        next_step="Hand `group` to the kernel and use it.",
        expected_wrong=computes(wrong.fixed_group),
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
        detector=either(wrong.wrong_in_part_of_group, wrong.leaves_in_last_group),
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
        detector=wrong.wrong_in_full_group,
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
        expected_wrong=computes(wrong.row_major),
    ),
    Misconception(
        code="column-major",
        title="The tiles are in plain column-major order",
        message="All rows form one group here; the argument `group` plays no part.",
        next_step="Cut the rows into groups of `group` and walk through each in turn.",
        expected_wrong=computes(wrong.column_major),
    ),
    Misconception(
        code="columns-grouped",
        title="The columns are grouped, not the rows",
        message="The order is that of the transposed problem.",
        next_step="A group is `group` *rows* with all their columns.",
        expected_wrong=computes(wrong.grouped_columns),
    ),
    Misconception(
        code="mapping-inverted",
        title="The mapping is turned round",
        message=(
            "The output tells for each tile which program takes it. Asked for is, for each "
            "program in launch order, the tile that it takes."
        ),
        next_step="Entry `pid` of the output is the (row, column) of program `pid`.",
        expected_wrong=computes(wrong.inverted),
    ),
    Misconception(
        code="group-not-scaled",
        title="The group's number is used as its first row",
        message="Group 1 starts at row `group`, not at row 1.",
        next_step="`first_row = group_id * group`.",
        expected_wrong=computes(wrong.group_numbered),
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
        expected_wrong=computes(wrong.other_heights),
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
        expected_wrong=computes(wrong.other_widths),
    ),
    Misconception(
        code="quotient-for-remainder",
        title="Quotient and remainder are exchanged within the group",
        message=(
            "Rows change fastest, so the *remainder* by the number of rows is the row, and the "
            "quotient is the column. Here it is the other way round."
        ),
        next_step="`row = first_row + within % size` and `column = within // size`.",
        expected_wrong=computes(wrong.divided_and_kept),
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
        detector=wrong.pairs_overlap,
        rules_out=frozenset({"grid-too-small", "mask-too-narrow", "programs-race"}),
    ),
    Misconception(
        code="half-stored",
        title="Of each pair one number was never stored",
        message="A line of the output has two places, and one of them stays as it was allocated.",
        next_step="Store the row at `2 * pid` *and* the column at `2 * pid + 1`.",
        detector=wrong.half_stored,
    ),
    shared.missing_mask("the list of programs", "n_rows * n_cols"),
    shared.grid_too_small("n_rows * n_cols"),
    shared.offset_ignores_pid(),
)
