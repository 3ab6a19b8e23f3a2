"""Predictions of the lesson on benchmarking."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_N, _BYTES = 4096, 4  # rows of a matrix, bytes of a number in fp32

PREDICTIONS = {
    "share_that_is_seen": Prediction(
        0.0082 / 0.24,
        "of the truth",
        ("You see only the launch and the reading of the clock: wrong by a factor of thirty."),
    ),
    "gpus_where_the_loop_is_right": Prediction(
        3, "of 9", "Each of the other six has a property that makes the loop wrong.", False
    ),
    "percent_mean": Prediction(
        100 * (3.6 - 0.3) / 20 / 0.3, "percent", "One call of 3.6 ms adds 3.3 / 20 ms to the mean."
    ),
    "percent_median": Prediction(
        0.0, "percent", "The call in the middle is one of the nineteen.", quantity=False
    ),
    "times_too_large": Prediction(
        (0.009 + 0.003) / 0.003, "times", "The time includes the launch as well as the kernel."
    ),
    "bytes_too_few_by": Prediction(
        _N, "times", "The formula counts n numbers per matrix, and a matrix has n²."
    ),
    "product_operations_per_byte": Prediction(
        2 * _N**3 / (3 * _N**2 * _BYTES), "operations per byte", "It is N/6 in fp32."
    ),
    "copy_gigabytes_per_second": Prediction(
        2 * 2**28 * _BYTES / 0.5 * 1e-6,
        "GB/s",
        (
            "Read once and written once. It is nine tenths of the data sheet's figure, so it "
            "may be true."
        ),
    ),
}
