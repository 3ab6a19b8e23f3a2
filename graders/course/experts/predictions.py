"""Predictions of the lesson on experts."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_UNEVEN = (100, 20, 3, 5)
_PADDED = len(_UNEVEN) * max(_UNEVEN)


def _tiles(lengths: tuple[int, ...], block: int) -> int:
    return sum(-(-length // block) for length in lengths)


PREDICTIONS = {
    "first_row_of_expert_2": Prediction(
        4, "", "Four rows come before, two of expert 0 and two of expert 1, and they are 0 to 3."
    ),
    "share_of_padding": Prediction(
        100 * (1 - sum(_UNEVEN) / _PADDED),
        "%",
        "Of four times 100 rows only 128 are real, and 272 are zeros.",
    ),
    "programs_of_a_small_expert": Prediction(
        _tiles((20,), 64) * (4096 // 128),
        "programs",
        "One tile down and 32 across, so three quarters of an H200 get nothing.",
    ),
    "tiles_of_four_experts": Prediction(
        _tiles((70, 5, 130, 33), 32), "tiles", "They have 3, 1, 5 and 2 of them, each rounded up."
    ),
    "expert_of_tile_4": Prediction(
        2, "", "The sums 3 and 4 are not larger than 4, so two experts are over and done with."
    ),
    "programs_without_a_tile": Prediction(
        sum(_UNEVEN) // 32 + len(_UNEVEN) - _tiles(_UNEVEN, 32),
        "programs",
        "128 rows make 4 tiles, plus 4 experts are 8 programs, and 4 + 1 + 1 + 1 tiles are 7.",
    ),
    "share_of_useful_rows": Prediction(
        100 * 2 / 64, "%", "Of the 64 rows in each tile two are real."
    ),
    "operations_per_byte": Prediction(
        8, "operations", "Each weight takes part in 8 rows, at two operations, and has two bytes."
    ),
}
