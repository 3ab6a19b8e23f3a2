"""Predictions of the lesson on low precision."""

from __future__ import annotations

from graders.judge.predictions import Prediction

_GROUP = 128
_BITS_OF_SCALE_AND_ZERO = 16 + 8

PREDICTIONS = {
    "third_nibble": Prediction(
        2,
        "",
        ("Counted from the right, 0x76543210 has the digits 0, 1, 2; the first one has number 0."),
        quantity=False,
    ),
    "e4m3_of_0_3": Prediction(
        0.3125, "", "Between 0.25 and 0.5 there are eight steps of 1/32, and 10/32 is the nearest."
    ),
    "numbers_left": Prediction(
        1,
        "number",
        (
            "A step is (100 + 1) / 15, nearly 7. All weights between -1 and 1 round to the same "
            "number."
        ),
    ),
    "bits_per_weight": Prediction(
        4 + _BITS_OF_SCALE_AND_ZERO / _GROUP,
        "bits",
        "128 weights share the 24 bits of scale and zero point: 0.1875 for each.",
    ),
    "first_bit_of_row_13": Prediction(
        20, "", "13 = 8 + 5: in the second word, five nibbles up.", quantity=False
    ),
    "rows_with_wrong_scale": Prediction(
        16, "rows", "Rows 48 to 63 belong to the second group, but get the scale of the first."
    ),
    "bytes_per_weight": Prediction(
        4 + 2 + 1,
        "bytes",
        "Each number needs a whole word of 4 bytes, its scale and its zero point.",
    ),
    "products_in_fp16": Prediction(
        0, "products", "The first one is 200,704 already, and float16 ends at 65,504."
    ),
}
