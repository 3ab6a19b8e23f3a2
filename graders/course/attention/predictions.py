"""Predictions of the lesson on attention."""

from __future__ import annotations

import math

from graders.judge.predictions import Prediction
from triton_util.hardware import GPUS

_HEADS, _ROWS, _D = 4 * 32, 4096, 128  # heads of all texts, rows of each, numbers of a row
_HALF = 2  # bytes of a number in fp16
_SCORES = _HEADS * _ROWS * _ROWS
_SCORE_BYTES = _SCORES * _HALF
_H200 = GPUS["H200"]
_EXPONENTIALS_PER_CLOCK, _CLOCK = 16, 1.98e9  # of an SM

PREDICTIONS = {
    "gigabytes_of_scores": Prediction(
        _SCORE_BYTES * 1e-9, "GB", "Each of 128 heads has 4,096 · 4,096 numbers of 2 bytes."
    ),
    "gigabytes_of_the_rest": Prediction(
        4 * _HEADS * _ROWS * _D * _HALF * 1e-9,
        "GB",
        "Four tensors have 4,096 · 128 numbers for each head: an eighth of the scores.",
    ),
    "milliseconds_of_trips": Prediction(
        4 * _SCORE_BYTES / _H200.gbytes_per_second * 1e-6, "ms", "Four times 4.29 GB."
    ),
    "accumulator_then": Prediction(10 / 4 + 20, "", "A quarter of 10, and 1 · 20."),
    "result_then": Prediction(
        (10 + 4 * 20) / 5,
        "",
        "The weights of the two keys have the ratio 1 to 4, so it is (10 + 4 · 20) / 5.",
    ),
    "loads_of_a_key_64": Prediction(_ROWS / 64, "times", "Once for each block of queries."),
    "loads_of_a_key_128": Prediction(_ROWS / 128, "times", "Half as many blocks of queries."),
    "percent_for_nobody": Prediction(
        100 / (1 + 3 * math.exp(-2)),
        "percent",
        (
            "The missing key's term is e⁰ = 1, more than twice 3 · e⁻² = 0.41, the sum of the "
            "real terms."
        ),
    ),
    "tiles_computed": Prediction(
        2 + 4 + 6 + 8,
        "tiles",
        "The first 64 queries need 2 blocks of keys, and each block of queries 2 more.",
    ),
    "tiles_with_a_mask": Prediction(
        4 * 2, "tiles", "The last two in each row of tiles, which have visible and hidden keys."
    ),
    "stride_between_rows": Prediction(
        3 * 16, "elements", "One row has 3 heads of 16 numbers next to each other.", quantity=False
    ),
    "k_read_full": Prediction(256 / 64, "times", "Once by each of four programs."),
    "k_read_causal": Prediction(
        (64 + 128 + 192 + 256) / 256, "times", "The programs read 64, 128, 192 and 256 keys."
    ),
    "properties_that_notice": Prediction(
        2,
        "of 4",
        "Properties 2 and 3 fail. The other two hold for any weights that add up to 1.",
        quantity=False,
    ),
    "lse_of_zeros": Prediction(math.log(4), "", "ln(1 + 1 + 1 + 1) = ln 4."),
    "lse_of_hundreds": Prediction(
        100 + math.log(4), "", "Adding 100 to each score adds 100 to the lse."
    ),
    "merged_value": Prediction(
        (1 * 10 + 3 * 20) / 4,
        "",
        "The weights of the halves are 1/4 and 3/4. The plain average would be 15.",
    ),
    "registers_of_a_thread": Prediction(
        2 * 128 * 128 / (32 * 4),
        "registers",
        "Two tiles of 16,384 numbers each, distributed over 128 threads.",
    ),
    "milliseconds_of_exp": Prediction(
        _SCORES / (132 * _EXPONENTIALS_PER_CLOCK * _CLOCK) * 1e3,
        "ms",
        "2.1 billion exponentials, 132 · 16 = 2,112 in each clock.",
    ),
}
