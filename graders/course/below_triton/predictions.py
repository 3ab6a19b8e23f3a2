"""Predictions of the lesson on what lies below Triton."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_THREADS = 4 * 32
_LENGTHS = (20, 24, 30, 32)

PREDICTIONS = {
    "halves_in_a_load": Prediction(
        128 / 16, "elements", "A half has 16 of the 128 bits, so eight fit."
    ),
    "wide_loads_for_1024": Prediction(
        1024 / _THREADS / 4,
        "instructions",
        "A thread has 1,024 / 128 = 8 elements, and one load fetches four.",
    ),
    "loads_for_4095": Prediction(
        1024 / _THREADS,
        "instructions",
        "One for each of its 8 elements: the mask may differ from lane to lane.",
    ),
    "lengths_of_whole_vectors": Prediction(
        sum(length * 4 % 16 == 0 for length in _LENGTHS),
        "lengths",
        "20, 24 and 32 are divisible by 4 elements, which are 16 bytes; 30 is not.",
    ),
    "lengths_that_triton_knows": Prediction(
        sum(length % 16 == 0 for length in _LENGTHS),
        "lengths",
        "Triton checks divisibility by 16, and only 32 is divisible by 16.",
    ),
    "smallest_block": Prediction(
        _THREADS * 8, "elements", "128 threads with eight halves each, which are 16 bytes."
    ),
    "elements_of_a_thread": Prediction(
        8192 / 32, "elements", "A warp has 32 threads; that alone is more than 255 registers hold."
    ),
}
