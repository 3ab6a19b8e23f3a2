"""Predictions of the lesson on fusion."""

from __future__ import annotations

import math

from graders.judge.predictions import Prediction

_LOADED = (1, 1, 2, 2, 2, 1, 1, 1, 2)  # arrays that each kernel of the chain loads; it stores one
_ARRAYS = sum(_LOADED) + len(_LOADED)
_SMS, _ELEMENTS = 132, 100_000
_BYTES = 4  # of a number in fp32


def _idle(block: int) -> int:
    return max(0, _SMS - math.ceil(_ELEMENTS / block))


PREDICTIONS = {
    "gelu_kernels": Prediction(
        len(_LOADED),
        "kernels",
        "Four multiplications by x or by a constant inside the bracket, an addition, tanh, the "
        "addition of 1, and two multiplications outside.",
    ),
    "gelu_arrays": Prediction(
        _ARRAYS,
        "arrays",
        "Each kernel stores one array. Four of them load two, and the others load one.",
    ),
    "tanh_of_50": Prediction(
        math.nan, "", "e¹⁰⁰ is infinite in fp32, and infinity divided by infinity is NaN."
    ),
    "idle_with_1024": Prediction(
        _idle(1024), "idle SMs", "There are 98 blocks, and at most one SM works on each of them."
    ),
    "idle_with_16384": Prediction(_idle(16_384), "idle SMs", "There are only seven blocks."),
    "bytes_fused": Prediction(
        2 * 10_000 * _BYTES, "bytes", "One load and one store of 4 bytes for each element."
    ),
    "bytes_eager": Prediction(
        _ARRAYS * 10_000 * _BYTES, "bytes", "22 arrays, each of 10,000 numbers of 4 bytes."
    ),
}
