"""Predictions of the lesson on strides."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_SQUARE = [[6 * row + col for col in range(6)] for row in range(6)]

PREDICTIONS = {
    "second_row_starts_with": Prediction(
        4,
        "",
        "The kernel moves 4 elements on, the width of the view. That is still row 0, in the part "
        "that was sliced away.",
        quantity=False,
    ),
    "step_down_left_half": Prediction(8, "elements", "A slice keeps the stride.", quantity=False),
    "step_down_transposed": Prediction(
        1, "element", "Transposing exchanges the two strides.", quantity=False
    ),
    "step_down_every_second_row": Prediction(
        16, "elements", "Two rows of 8 at a time.", quantity=False
    ),
    "step_down_expanded": Prediction(
        0, "elements", "Every row uses the same memory.", quantity=False
    ),
    "swapped_column_ends_with": Prediction(
        _SQUARE[1][-1],
        "",
        "With the strides exchanged the kernel copies row 1: 6 to 11.",
        quantity=False,
    ),
    "row_of_21": Prediction(2, "", "21 // 8: two whole rows come before it.", quantity=False),
    "col_of_21": Prediction(5, "", "21 % 8: the remainder.", quantity=False),
    "divide_by": Prediction(3, "", "Each row of the output has 3 elements.", quantity=False),
    "sectors_fetched": Prediction(
        32, "sectors", "Each of the 32 numbers is in a sector of its own."
    ),
    "percent_wanted": Prediction(
        12.5,
        "percent",
        "A sector has 8 fp32 numbers, and down a column a lane uses one of them. A kernel that "
        "passes along the rows of x instead has this loss at the stores.",
    ),
    "copy_over_transpose": Prediction(
        3.85, "times", "The transpose fetches a sector of 32 bytes for each number of 4 bytes."
    ),
}
