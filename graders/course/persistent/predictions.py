"""Predictions of the lesson on persistent kernels."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_TILES = (4096 // 128) * (4096 // 256)

PREDICTIONS = {
    "tiles_of_program_1": Prediction(
        3, "tiles", "Tiles 1, 5 and 9: the step is four, and tile 13 does not exist."
    ),
    "rounds_at_4096": Prediction(
        -(-_TILES // 132),
        "rounds",
        "There are 32 x 16 = 512 tiles, and 512 / 132 is a bit below 4.",
    ),
    "elements_inside": Prediction(
        4, "elements", "Rows 3 and 4, columns 4 and 5: two by two. The other twelve are read as 0."
    ),
    "next_width": Prediction(
        104, "columns", "Sixteen bytes are eight such numbers, and 13 times 8 is the next multiple."
    ),
    "factor_of_bytes": Prediction(
        1, "", "Each tile of c needs the same tiles of a and b, whichever program computes it."
    ),
}
