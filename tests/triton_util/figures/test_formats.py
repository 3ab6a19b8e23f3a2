"""The picture of number formats says what torch says of them."""

import pytest
import torch

from triton_util.figures.formats import FORMATS, bits_of, nearest, number_formats


def test_every_bit_of_a_format_has_its_part() -> None:
    for _, dtype, exponent, mantissa in FORMATS:
        assert 1 + exponent + mantissa == torch.finfo(dtype).bits
        assert torch.finfo(dtype).eps == 2.0**-mantissa


def test_the_words_name_each_format_and_its_range() -> None:
    alt = number_formats().alt
    for told in ("fp16: 1 bit of sign, 5 of exponent", "up to 448", "up to 57,344", "int4: 4 bits"):
        assert told in alt


@pytest.mark.parametrize(
    ("name", "value", "bits"),
    [("e4m3", 1.0, "00111000"), ("e5m2", -1.0, "10111100"), ("fp16", 1.0, "0011110000000000")],
)
def test_bits_are_those_in_memory(name: str, value: float, bits: str) -> None:
    (dtype,) = (dtype for known, dtype, *_ in FORMATS if known == name)
    assert bits_of(value, dtype) == bits
    assert nearest(value, dtype) == value


def test_a_value_is_rounded_in_the_picture() -> None:
    assert "e4m3: 1 bit of sign, 4 of exponent, 3 of mantissa; bits 00101010, which is 0.3125." in (
        number_formats(0.3).alt
    )
