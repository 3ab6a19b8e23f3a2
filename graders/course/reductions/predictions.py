"""Predictions of the lesson on reductions."""

from __future__ import annotations

import math

from graders.judge.predictions import Prediction

_BYTES = 4  # of a number in fp32

PREDICTIONS = {
    "maximum_with_zero": Prediction(
        0.0, "", "The fourth lane takes part in the maximum, with its 0.", quantity=False
    ),
    "share_of_100": Prediction(
        math.nan,
        "",
        "e¹⁰⁰ is too large for fp32: infinity divided by infinity is NaN.",
        quantity=False,
    ),
    "bytes_short": Prediction(_BYTES * 2, "bytes per element", "Loaded once and stored once."),
    "bytes_long": Prediction(
        _BYTES * 3,
        "bytes per element",
        (
            "Two passes load it twice, and the result is stored once. With three passes it would "
            "be 16."
        ),
    ),
    "variance_in_one_walk": Prediction(
        0.0,
        "",
        "x² has nine digits and fp32 keeps about seven, so the difference is lost.",
        quantity=False,
    ),
    "variance_with_padding": Prediction(
        (0 - 3.0) ** 2 / 3, "", "The masked-off lane contains 0, and 0 - 3 is -3."
    ),
}
