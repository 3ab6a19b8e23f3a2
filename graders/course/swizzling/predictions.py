"""Predictions of the lesson on the order of tiles."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_LOADS = 32  # of 16 programs in one step: a block of a and one of b each

PREDICTIONS = {
    "blocks_row_major": Prediction(
        (1 + 9) * 9, "blocks", "One row and nine columns, each 9 blocks long."
    ),
    "blocks_square": Prediction(
        (3 + 3) * 9, "blocks", "Three rows and three columns, each 9 blocks long."
    ),
    "row_of_14": Prediction(
        3, "", "Programs 12 and 13 of the last group come before it, both in column 0.", False
    ),
    "col_of_14": Prediction(
        1, "", "The last group has two rows: 14 - 12 = 2 tiles, and 2 // 2 = 1.", False
    ),
    "percent_of_hits_row_major": Prediction(
        100 * (_LOADS - 17) / _LOADS,
        "percent",
        (
            "In a row of 16 tiles the programs share one block of `a` and need 16 different "
            "blocks of `b`: 17 loads from global memory for 32 loads."
        ),
    ),
    "percent_of_hits_grouped": Prediction(
        100 * (_LOADS - 8) / _LOADS,
        "percent",
        (
            "A square of 4×4 tiles needs 4 blocks of each matrix: 8 loads from global memory "
            "for 32 loads."
        ),
    ),
    "percent_of_hits_of_a_kernel": Prediction(
        100 * (_LOADS - 10) / _LOADS,
        "percent",
        (
            "In groups of 8, 16 programs compute 8×2 tiles: 8 + 2 loads from global memory for "
            "32 loads."
        ),
    ),
}
