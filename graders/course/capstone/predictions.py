"""Predictions of the capstone."""

from __future__ import annotations

import math

from graders.judge.predictions import Prediction

_LETTERS, _CONTEXT, _WIDTH, _HIDDEN = 23, 8, 8, 64
_LEARNED = _LETTERS * _WIDTH + _HIDDEN * _CONTEXT * _WIDTH + _HIDDEN + _HIDDEN * _LETTERS

PREDICTIONS = {
    "loss_of_knowing_nothing": Prediction(
        math.log(_LETTERS),
        "",
        "Each probability is 1/23, and minus the logarithm of that is log(23).",
    ),
    "loss_of_four_alike": Prediction(
        math.log(4), "", "Each of four equal logits has a probability of 1/4."
    ),
    "gigabytes_of_logits": Prediction(
        8192 * 128_256 * 2 / 1e9, "GB", "8192 · 128,256 logits of two bytes each."
    ),
    "sum_after_the_second_block": Prediction(
        3 * math.exp(-1) + 1 + math.exp(-1),
        "",
        "3 is multiplied by exp(1 - 2), and the block adds exp(0) and exp(-1).",
    ),
    "mean_of_rows_that_count": Prediction(
        3.0, "", "(2 + 4) / 2: the ignored row is neither in the sum nor in the count."
    ),
    "gradient_at_the_target": Prediction(
        (0.9 - 1) * 2, "", "0.9 minus the 1 of one-hot is -0.1, and dloss doubles it."
    ),
    "sum_of_a_row": Prediction(
        0.0, "", "The probabilities add up to 1, and 1 is subtracted at the target."
    ),
    "numbers_that_are_learned": Prediction(
        _LEARNED,
        "numbers",
        "23 · 8 in the table, 64 · 64 + 64 in the hidden layer, 64 · 23 in the last.",
    ),
    "launches_of_a_step": Prediction(
        3 + 1 + 2 + 2, "launches", "Three forward; one, two and two in the backward pass."
    ),
}
