"""Predictions of the lesson on matrix multiplication."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_N = 4096
_HALF = 2  # bytes of a number in fp16
_MATRIX = _N * _N * _HALF

PREDICTIONS = {
    "matmul_operations_per_byte": Prediction(
        2 * _N**3 / (3 * _MATRIX), "operations per byte", "It is N/3 in fp16."
    ),
    "times_loaded": Prediction(
        256 // 32,
        "times",
        (
            "Each program that works on its rows loads it once, and there is one for each 32 "
            "columns."
        ),
    ),
    "sum_of_4096_ones": Prediction(
        2048,
        "",
        (
            "fp16 has 11 significant bits. From 2,048 on, neighbouring numbers are 2 apart, so "
            "2,048 + 1 is rounded back to 2,048 each time."
        ),
        quantity=False,
    ),
    "with_zeros_behind": Prediction(
        20, "", "The third step reads the elements 16 to 23, and four zeros change nothing."
    ),
    "with_hundreds_behind": Prediction(
        20 + 4 * 100 * 100, "", "Four additional products of 100 and 100."
    ),
    "bytes_of_a": Prediction(
        256 // 64 * 256 * 256 * 4,
        "bytes",
        "The programs of each of four columns of tiles load the whole of it once.",
    ),
    "bytes_saved_by_fusion": Prediction(
        4 * _MATRIX,
        "bytes",
        "Each of the two extra kernels would have loaded the result once and stored it once.",
    ),
}
