"""Predictions of the lesson on tiles."""

from __future__ import annotations

from graders.judge.predictions import Prediction

PREDICTIONS = {
    "programs_4x4": Prediction(2, "programs", "One tile down, two to the right.", quantity=False),
    "lanes_off_4x4": Prediction(4, "lanes", "32 lanes for 28 elements."),
    "red_to_green": Prediction(
        13_500, "elements", "One whole channel of 90 rows and 150 columns lies between them."
    ),
    "bias_bytes": Prediction(
        4096,
        "bytes",
        "4 rows of tiles each load all 256 biases of 4 bytes. One bias per element would be 16 "
        "times as much, 65,536 bytes, as much as x itself.",
    ),
    "sectors_along_rows": Prediction(128, "sectors", "32 rows of 128 bytes, 4 sectors each."),
    "sectors_down_columns": Prediction(
        1024, "sectors", "In each of 32 columns every lane asks for a sector of its own."
    ),
    "grey_speed_up": Prediction(
        10.9,
        "times",
        "Measured. The line is five kernels and a conversion, most of them with fp32 pictures in "
        "and out; the one kernel loads 3 bytes and stores 1 for each pixel.",
    ),
}
