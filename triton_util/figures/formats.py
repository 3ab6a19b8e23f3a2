"""Figure of number formats with few bits: sign, exponent and mantissa, bit by bit."""

from __future__ import annotations

import torch

from triton_util.figures.drawing import Drawing, Look, cell, label, panel

# name, dtype, bits of the exponent, bits of the mantissa
FORMATS = (
    ("fp16", torch.float16, 5, 10),
    ("bf16", torch.bfloat16, 8, 7),
    ("e4m3", torch.float8_e4m3fn, 4, 3),
    ("e5m2", torch.float8_e5m2, 5, 2),
)
PARTS: tuple[tuple[str, Look], ...] = (("s", "plain"), ("e", "active"), ("m", "second"))
INT4_BITS = 4
NAME_AT, BITS_AT, WORDS_AT, ROW = 1.7, 2.0, 18.6, 1.35


def number_formats(value: float | None = None) -> Drawing:
    """fp16, bf16, e4m3, e5m2 and int4, a box for each bit.

    With a value, the boxes show the bits of the nearest number in each of the four floating-point
    formats; without one, the letter of the part that the bit belongs to.
    """
    rows = len(FORMATS) + (value is None)
    figure, axes = panel(9.6, 0.55 * rows + 0.5, 29.0, ROW * rows + 1.2)
    told = []
    for row, (name, dtype, exponent, mantissa) in enumerate(FORMATS):
        y = 0.9 + ROW * row
        label(axes, NAME_AT, y + 0.5, name, 10, bold=True, align="right")
        bits = "" if value is None else bits_of(value, dtype)
        looks = [
            look
            for (_, look), n in zip(PARTS, (1, exponent, mantissa), strict=True)
            for _ in range(n)
        ]
        letters = "s" + "e" * exponent + "m" * mantissa
        for place, (look, letter) in enumerate(zip(looks, bits or letters, strict=True)):
            cell(axes, BITS_AT + place, y, letter, look, size=9)
        words = _range(dtype) if value is None else f"is {nearest(value, dtype):.7g}"
        label(axes, WORDS_AT, y + 0.5, words, 9.5, align="left")
        layout = f"1 bit of sign, {exponent} of exponent, {mantissa} of mantissa"
        told.append(f"{name}: {layout}; {f'bits {bits}, which ' if bits else ''}{words}.")
    if value is None:
        y = 0.9 + ROW * len(FORMATS)
        label(axes, NAME_AT, y + 0.5, "int4", 10, bold=True, align="right")
        for place in range(INT4_BITS):
            cell(axes, BITS_AT + place, y, "q", "third", size=9)
        words = "0 to 15; scale and zero point say what that means"
        label(axes, BITS_AT + INT4_BITS + 0.4, y + 0.5, words, 9.5, align="left")
        told.append(f"int4: 4 bits, {words}.")
    key = (
        "s sign   e exponent   m mantissa" if value is None else f"the number nearest to {value:g}"
    )
    label(axes, BITS_AT, 0.45, key, 9.5, align="left", quiet=True)
    return Drawing(figure, " ".join(told))


def nearest(value: float, dtype: torch.dtype) -> float:
    """The number of this format that is nearest to the value."""
    return float(torch.tensor(value, dtype=torch.float64).to(dtype).double())


def bits_of(value: float, dtype: torch.dtype) -> str:
    """The bits of the number nearest to the value, the sign first."""
    number = torch.tensor(value, dtype=torch.float64).to(dtype)
    width = 8 * number.element_size()
    pattern = int(number.view(torch.int16 if width == 16 else torch.uint8)) % 2**width
    return f"{pattern:0{width}b}"


def _range(dtype: torch.dtype) -> str:
    """The largest number, and the distance from 1 to the next one."""
    facts = torch.finfo(dtype)
    largest = f"{facts.max:,.0f}" if facts.max < 1e6 else f"{facts.max:.1e}"
    return f"up to {largest}; after 1 comes {1 + facts.eps:.7g}"
