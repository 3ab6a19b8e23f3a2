"""Predictions of the lesson on atomics and scans."""

from __future__ import annotations

import math

from graders.judge.predictions import Prediction

_BLOCKS = math.ceil(1_000_000 / 1024)

PREDICTIONS = {
    "count_after_load_add_store": Prediction(
        1, "", "Each lane of the block sees the count 0 before any of them stores, so 1 is stored."
    ),
    "two_to_the_24_plus_1": Prediction(
        2**24,
        "",
        "float32 has 24 significant bits, and the sum would need 25; the tie goes to the even one.",
    ),
    "ones_in_float16": Prediction(
        2048, "", "2048 + 1 is no number of float16 and becomes 2048 again, 952 times over."
    ),
    "additions_of_blocks": Prediction(
        _BLOCKS * 256, "additions", "977 programs with 256 additions each."
    ),
    "rounds_of_a_scan": Prediction(
        int(math.log2(1024)), "rounds", "The distance doubles each time, and 2¹⁰ is 1024."
    ),
    "carried_into_second_block": Prediction(
        3 + 1 + 4 + 1, "", "It is all that stands before: 3 + 1 + 4 + 1."
    ),
    "bytes_sums_first": Prediction(
        12, "bytes", "x is read for the sums and once more for the scan, and the result is stored."
    ),
    "bytes_of_the_walk": Prediction(
        8, "bytes", "Four bytes come in and four go out; the carry never leaves its register."
    ),
    "programs_of_a_small_result": Prediction(
        1, "programs", "The whole result is a single tile, and a tile has one program."
    ),
    "blocks_of_part_3": Prediction(
        2, "blocks", "There are ten blocks, 0 to 9, and it gets numbers 3 and 7."
    ),
}
