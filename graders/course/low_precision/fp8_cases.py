"""Cases of a product of fp8 numbers with a scale for each row and each column."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch

from graders.judge.cases.builders import ALL_VIEWS, Maker, case, cases
from graders.judge.records import Arg, TensorSpec

SIZES = "m k n"
EIGHT = (torch.float8_e4m3fn,)
SPREAD = 112.0  # of numbers whose largest are near 448, as a quantiser makes them
TYPICAL_SCALE = 0.01
USUAL = TensorSpec((0,), fill="rectified", scale=TYPICAL_SCALE / 2, shift=TYPICAL_SCALE)


def with_scales(
    rows: TensorSpec | None = None, columns: TensorSpec | None = None, viewed: str = "ab"
) -> Maker:
    """Return the maker of a (m, k) and b (k, n), and of a scale for each row and each column.

    `rows` and `columns` say how the scales are filled; `viewed` names the factors that have the
    view of the case.
    """

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        m, k, n = shape
        spec["scale"] = SPREAD * spec["scale"]  # type: ignore[operator]
        dense = {**spec, "view": "contiguous"}
        return (
            TensorSpec((m, k), **(spec if "a" in viewed else dense)),  # type: ignore[arg-type]
            TensorSpec((k, n), **(spec if "b" in viewed else dense)),  # type: ignore[arg-type]
            replace(rows or USUAL, shape=(m,)),
            replace(columns or USUAL, shape=(n,)),
        )

    return make


def of_many_sizes(count: int, first: int) -> TensorSpec:
    """Return scales from 1e-5 to 1e5, of which neighbours differ by a lot."""
    powers = [(first + 4 * place) % 11 - 5 for place in range(count)]
    return TensorSpec((count,), values=tuple(1.25 * 10.0**power for power in powers))


def nearly_cancelling(m: int, k: int, n: int) -> tuple[Arg, ...]:
    """Return factors of which the first half of k makes a large sum, and the second half takes it
    back; half precision has lost what is left."""
    signed = [
        (1 if place < k // 2 else -1) * (80.0 + 8 * ((5 * row + 3 * place) % 11))
        for row in range(m)
        for place in range(k)
    ]
    return (
        TensorSpec((m, k), EIGHT[0], values=tuple(signed)),
        TensorSpec((k, n), EIGHT[0], scale=20.0, shift=200.0),
        replace(USUAL, shape=(m,)),
        replace(USUAL, shape=(n,)),
    )


scaled = partial(cases, with_scales(), SIZES, dtypes=EIGHT)  # takes shapes and the rest
EITHER_SIGN = TensorSpec((0,), scale=TYPICAL_SCALE)

FP8_CASES = (
    *scaled([(64, 128, 64), (32, 32, 32), (128, 64, 128)]),
    *scaled([(64, 45, 64), (32, 200, 64)], why="k is ragged."),
    *scaled([(50, 64, 64), (64, 64, 90)], why="m or n is ragged."),
    *scaled([(70, 45, 90), (150, 40, 33), (33, 40, 150)]),
    *scaled([(17, 40, 20)], engine_orders=True),
    *scaled([(1, 1, 1), (1, 64, 1), (17, 1, 33)], part="edges"),
    *scaled([(15, 16, 17), (31, 33, 32)], part="edges"),
    *scaled([(65, 63, 64), (2, 3, 5)], part="edges"),
    *scaled(
        [(0, 5, 7), (5, 7, 0)],
        part="edges",
        why="Nothing to compute.",
    ),
    *scaled([(5, 0, 7)], part="edges", why="An empty sum is 0."),
    case(
        "m=33 k=64 n=40, scales from 1e-05 to 1e+05",
        with_scales(of_many_sizes(33, 0), of_many_sizes(40, 3))(
            (33, 64, 40), dtype=EIGHT[0], scale=1.0
        ),
        part="types",
    ),
    *cases(
        with_scales(EITHER_SIGN, EITHER_SIGN),
        SIZES,
        [(20, 48, 30)],
        part="types",
        dtypes=EIGHT,
        label="scales of either sign",
    ),
    *scaled(
        [(40, 40, 40)],
        part="types",
        scale=10.0,
        why="Most numbers are 448 or -448, the largest of e4m3.",
    ),
    *scaled(
        [(40, 40, 40)],
        part="types",
        scale=1e-4,
        why="Numbers near 2**-9, the smallest of e4m3.",
    ),
    *scaled(
        [(16, 1024, 16)],
        part="types",
        fills=["rectified"],
        why="A long sum of terms of one sign.",
    ),
    case(
        "m=24 k=192 n=20, two halves that nearly cancel",
        nearly_cancelling(24, 192, 20),
        part="types",
        why="Large sums, of which little is left.",
    ),
    *scaled([(28, 36, 24)], part="views", views=ALL_VIEWS),
    *cases(
        with_scales(viewed="a"),
        SIZES,
        [(36, 36, 36)],
        part="views",
        views=["transposed", "sliced"],
        dtypes=EIGHT,
        label="a",
    ),
    *cases(
        with_scales(viewed="b"),
        SIZES,
        [(36, 36, 36)],
        part="views",
        views=["transposed", "sliced"],
        dtypes=EIGHT,
        label="b",
    ),
)
FP8_LARGE = scaled([(1031, 1024, 1029)], part="edges")
