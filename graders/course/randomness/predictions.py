"""Predictions of the lesson on randomness."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_TOKENS, _WIDTH, _LAYERS, _DROPOUTS = 8 * 2048, 4096, 32, 2
_ELEMENTS = _TOKENS * _WIDTH * _LAYERS * _DROPOUTS

PREDICTIONS = {
    "mean_without_scale": Prediction(
        0.75, "", "A quarter of the ones is set to 0, and three quarters are kept."
    ),
    "what_becomes_of_3": Prediction(3 / (1 - 0.25), "", "It is divided by 1 - p = 0.75."),
    "steps_to_the_millionth": Prediction(
        1, "calls", "Pass 1,000,000 as the counter; no earlier number is needed."
    ),
    "bits_that_change": Prediction(
        16, "bits", "Each of the 32 bits changes with probability one half."
    ),
    "same_lanes": Prediction(
        1, "masks", "The counters are 0 to 7 in both blocks, so both masks are equal."
    ),
    "bytes_of_masks": Prediction(
        _ELEMENTS / 2**30, "GiB", "One byte for each of 2³² elements, in all layers together."
    ),
    "bytes_of_seeds": Prediction(
        _LAYERS * _DROPOUTS * 8, "bytes", "Sixty-four dropouts with eight bytes each."
    ),
    "bytes_for_each_element": Prediction(
        12, "bytes", "It loads x and residual and stores the result, four bytes each."
    ),
}
