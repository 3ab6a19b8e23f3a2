"""Predictions of the lesson on tiles."""

from __future__ import annotations

from graders.judge.predictions import Prediction

PREDICTIONS = {
    "programs_4x4": Prediction(2, "programs", "One tile down, two to the right.", quantity=False),
    "lanes_off_4x4": Prediction(4, "lanes", "32 lanes for 28 elements."),
    "red_to_green": Prediction(
        13_500, "elements", "They are one whole channel apart: 90 rows of 150 columns."
    ),
    "bias_bytes": Prediction(
        4096,
        "bytes",
        "4 rows of tiles each load all 256 biases of 4 bytes. One bias per element would be 16 "
        "times as much: 65,536 bytes, the size of x.",
    ),
    "sectors_along_rows": Prediction(128, "sectors", "32 rows of 128 bytes, 4 sectors each."),
    "sectors_down_columns": Prediction(
        1024, "sectors", "In each of the 32 columns, every lane requests a sector of its own."
    ),
    "grey_speed_up": Prediction(
        10.9,
        "times",
        "Measured. The line runs five kernels and a conversion, and most of them load and store "
        "fp32 pictures. The one kernel loads 3 bytes and stores 1 for each pixel.",
    ),
}
