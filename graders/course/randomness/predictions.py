"""Predictions of the lesson on randomness."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_TOKENS, _WIDTH, _LAYERS, _DROPOUTS = 8 * 2048, 4096, 32, 2
_ELEMENTS = _TOKENS * _WIDTH * _LAYERS * _DROPOUTS

PREDICTIONS = {
    "mean_without_scale": Prediction(
        0.75, "", "A quarter is gone, and of numbers that are all 1 three quarters are left."
    ),
    "what_becomes_of_3": Prediction(
        3 / (1 - 0.25), "", "Three quarters are kept, so it is divided by 0.75."
    ),
    "steps_to_the_millionth": Prediction(
        1, "calls", "The counter of the number is put in, and nothing comes before it."
    ),
    "bits_that_change": Prediction(
        16, "bits", "Each of the 32 bits turns over or not, as if a coin had been thrown for it."
    ),
    "same_lanes": Prediction(
        1, "masks", "The counters are the lanes 0 to 7 in both blocks, so both are equal."
    ),
    "bytes_of_masks": Prediction(
        _ELEMENTS / 2**30, "GiB", "One byte for each of 2³² elements, in all layers together."
    ),
    "bytes_of_seeds": Prediction(
        _LAYERS * _DROPOUTS * 8, "bytes", "Sixty-four dropouts with eight bytes each."
    ),
    "bytes_for_each_element": Prediction(
        12, "bytes", "x and residual come in, the result goes out, four bytes each."
    ),
}
