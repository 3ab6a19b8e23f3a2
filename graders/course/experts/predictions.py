"""Predictions of the lesson on experts."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_UNEVEN = (100, 20, 3, 5)
_PADDED = len(_UNEVEN) * max(_UNEVEN)


def _tiles(lengths: tuple[int, ...], block: int) -> int:
    return sum(-(-length // block) for length in lengths)


PREDICTIONS = {
    "first_row_of_expert_2": Prediction(
        4, "", "Rows 0 to 3 come before: two of expert 0 and two of expert 1."
    ),
    "share_of_padding": Prediction(
        100 * (1 - sum(_UNEVEN) / _PADDED),
        "%",
        "Of 400 rows with padding 128 are real, and 272 are zeros.",
    ),
    "programs_of_a_small_expert": Prediction(
        _tiles((20,), 64) * (4096 // 128),
        "programs",
        "One tile of rows and 32 of columns: three quarters of an H200 have nothing to do.",
    ),
    "tiles_of_four_experts": Prediction(
        _tiles((70, 5, 130, 33), 32), "tiles", "They have 3, 1, 5 and 2 of them, each rounded up."
    ),
    "expert_of_tile_4": Prediction(
        2, "", "Two sums, 3 and 4, are at most 4, so two experts come before tile 4."
    ),
    "programs_without_a_tile": Prediction(
        sum(_UNEVEN) // 32 + len(_UNEVEN) - _tiles(_UNEVEN, 32),
        "programs",
        "The launch has 128 / 32 + 4 = 8 programs, and there are 4 + 1 + 1 + 1 = 7 tiles.",
    ),
    "share_of_useful_rows": Prediction(
        100 * 2 / 64, "%", "Of the 64 rows in each tile two are real."
    ),
    "operations_per_byte": Prediction(
        8, "operations", "Each weight is used for 8 rows, two operations each, and has two bytes."
    ),
}
