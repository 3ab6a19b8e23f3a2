"""Predictions of the lesson on vector addition."""

from __future__ import annotations

from graders.judge.predictions import Prediction
from triton_util.hardware import GPUS

_H200 = GPUS["H200"]
_ADDITIONS = _H200.fp32_tflops * 1000 * 12 / _H200.gbytes_per_second

PREDICTIONS = {
    "lanes_off_6": Prediction(
        2, "lanes", "Two programs have 8 lanes, for 6 elements.", quantity=False
    ),
    "lanes_off_8": Prediction(0, "lanes", "Two blocks of 4 fit exactly.", quantity=False),
    "never_stored": Prediction(
        3,
        "elements",
        "One program stores 4 of the 7. The other three keep what was in that memory before.",
        quantity=False,
    ),
    "additions_possible": Prediction(
        round(_ADDITIONS),
        "operations",
        "Each addition moves 12 bytes. In that time the arithmetic units could do more than a "
        "hundred and fifty additions.",
    ),
    "percent_of_bandwidth": Prediction(
        91,
        "percent",
        "This is a measured figure, relative to the data sheet's bandwidth. PyTorch's own kernel "
        "reaches the same.",
    ),
}
