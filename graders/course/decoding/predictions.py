"""Predictions of the lesson on decoding."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_LAYERS, _KEY_HEADS, _WIDTH, _HALF, _FULL = 32, 8, 128, 2, 4
_TOKEN = 2 * _LAYERS * _KEY_HEADS * _WIDTH * _HALF  # bytes of keys and values
_LENGTHS, _ROOM = (300, 77, 1100), 2048
_TABLE_OF_A, _PAGE = (5, 2, 7), 4
_PROCESSORS = 132

PREDICTIONS = {
    "kib_of_a_token": Prediction(
        _TOKEN / 2**10, "KiB", "2 (key and value) · 32 layers · 8 heads · 128 numbers · 2 bytes."
    ),
    "gib_of_a_conversation": Prediction(
        32_768 * _TOKEN / 2**30, "GiB", "32,768 times what a single token takes."
    ),
    "intensity_of_decoding": Prediction(
        4 / (2 * _HALF), "operations", "4 · n · d operations for 2 · n · d numbers of two bytes."
    ),
    "key_head_of_3": Prediction(
        3 // (8 // 2), "", "A group has four heads, and 0 to 3 are the first group."
    ),
    "times_a_key_is_loaded": Prediction(
        8 // 2, "times", "Each of the four programs of a group reads all keys of its group."
    ),
    "percent_unused": Prediction(
        100 * (1 - sum(_LENGTHS) / (len(_LENGTHS) * _ROOM)),
        "%",
        "Only 1,477 of 6,144 slots are in use.",
    ),
    "page_of_key_9": Prediction(
        _TABLE_OF_A[9 // _PAGE], "", "9 // 4 is 2, and column 2 of the row holds the page."
    ),
    "slot_of_key_9": Prediction(
        9 % _PAGE, "", "Eight keys fill two pages, so key 9 is the second key of the third page."
    ),
    "first_page_beyond": Prediction(
        2**31 / (16 * _KEY_HEADS * _WIDTH), "", "A page has 16 · 8 · 128 = 2¹⁴ numbers."
    ),
    "percent_at_work": Prediction(
        100 * _KEY_HEADS / _PROCESSORS, "%", "Eight programs use at most eight multiprocessors."
    ),
    "merged_output": Prediction(
        (3 * 10 + 1 * 20) / (3 + 1), "", "The weights are 3 and 1, and their sum is 4."
    ),
    "kib_of_keys_and_values": Prediction(
        2 * 512 * 2 * 64 * _FULL / 2**10, "KiB", "Two tensors, 512 · 2 · 64 numbers of four bytes."
    ),
}
