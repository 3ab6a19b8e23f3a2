"""Predictions of the lesson on gradients."""

from __future__ import annotations

import math

from graders.judge.predictions import Prediction

_ELEMENTS = 1000 * 1000
_BYTES = 4  # of a number in fp32

PREDICTIONS = {
    "relu_sum_of_dx": Prediction(
        20.0 + 30.0,
        "",
        "The first element was negative, so of 10, 20 and 30 only the last two pass.",
    ),
    "dx_of_equal_dy": Prediction(
        0.0,
        "",
        ("The probabilities of a row always add up to 1, so five times their sum never changes."),
        quantity=False,
    ),
    "numbers_of_an_expanded_dy": Prediction(
        1, "number", "Both strides are 0, and every element is that one."
    ),
    "bytes_beyond_its_end": Prediction(
        _BYTES * (_ELEMENTS - 1), "bytes", "All but the first of a million numbers of 4 bytes."
    ),
    "bytes_in_two_walks": Prediction(
        _BYTES * 5, "bytes", "Each of two passes loads two tensors, and the second stores one."
    ),
    "least_bytes": Prediction(_BYTES * 3, "bytes", "Two loads and one store of 4 bytes."),
    "backward_over_forward": Prediction(
        2, "times", "Two products of the size of the forward one; the column sum hardly counts."
    ),
    "sum_after_the_race": Prediction(
        32.0, "", "Each stores 0 + 32 over the value stored before: three parts are lost."
    ),
    "best_exponent": Prediction(
        2,
        "",
        (
            "With a larger step the curvature dominates the error. With 10⁻⁶ the two values agree "
            "in all but one or two digits of fp32."
        ),
        quantity=False,
    ),
    "loss_before_training": Prediction(
        math.log(2.0), "", "The correct one of two classes has the probability 1/2: -ln(1/2)."
    ),
}
