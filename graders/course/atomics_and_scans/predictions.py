"""Predictions of the lesson on atomics and scans."""

from __future__ import annotations

import math

from graders.judge.predictions import Prediction

_BLOCKS = math.ceil(1_000_000 / 1024)

PREDICTIONS = {
    "count_after_load_add_store": Prediction(
        1, "", "Each lane of the block loads the count 0 before any of them stores, so all store 1."
    ),
    "two_to_the_24_plus_1": Prediction(
        2**24,
        "",
        "float32 has 24 significant bits, and the sum needs 25; it rounds to the even neighbour.",
    ),
    "ones_in_float16": Prediction(
        2048, "", "2049 does not exist in float16: 2048 + 1 is rounded to 2048, 952 times."
    ),
    "additions_of_blocks": Prediction(
        _BLOCKS * 256, "additions", "977 programs with 256 additions each."
    ),
    "rounds_of_a_scan": Prediction(
        int(math.log2(1024)), "rounds", "The distance doubles each time, and 2¹⁰ is 1024."
    ),
    "carried_into_second_block": Prediction(
        3 + 1 + 4 + 1, "", "It is the sum of the first block: 3 + 1 + 4 + 1."
    ),
    "bytes_sums_first": Prediction(
        12,
        "bytes",
        "The kernels read x once for the sums and once for the scan, and store the result.",
    ),
    "bytes_of_the_walk": Prediction(
        8, "bytes", "It loads four bytes and stores four; the carry stays in a register."
    ),
    "programs_of_a_small_result": Prediction(
        1, "programs", "The whole result is one tile, and one program computes a tile."
    ),
    "blocks_of_part_3": Prediction(
        2, "blocks", "There are ten blocks, 0 to 9, and it gets numbers 3 and 7."
    ),
}
