"""Predictions of the lesson on autotuning."""

from __future__ import annotations

import math

from graders.judge.predictions import Prediction

_CONFIGS, _COMPILE, _MEASURE = 8, 0.6, 0.15  # seconds of each configuration
_TILES = math.ceil(2048 / 128) * math.ceil(2048 / 256)

PREDICTIONS = {
    "traffic_falls_by": Prediction(
        (1 / 64 + 1 / 64) / (1 / 128 + 1 / 256), "times", "It falls from 2/64 to 3/256."
    ),
    "accumulator_registers": Prediction(
        256 * 256 / (32 * 4),
        "registers",
        "65,536 numbers for 128 threads: twice what a thread can have.",
    ),
    "first_launch_seconds": Prediction(
        _CONFIGS * (_COMPILE + _MEASURE), "seconds", "Each configuration is compiled and measured."
    ),
    "first_launch_of_next_shape": Prediction(
        _CONFIGS * _MEASURE,
        "seconds",
        "Each configuration is measured again, and none is compiled.",
    ),
    "how_many_fit_an_l4": Prediction(
        7, "of 8", "The last one needs three stages of 48 KiB: 144 KiB.", quantity=False
    ),
    "x_afterwards": Prediction(
        2 * 3 + 1, "", "Two configurations with three runs each, and then the launch itself."
    ),
    "programs_of_2048": Prediction(_TILES, "programs", "16 rows of 8 tiles."),
    "idle_sms_of_2048": Prediction(
        132 - _TILES, "idle SMs", "There are 132 SMs, and one program for each SM."
    ),
}
