"""Builders of case records, so that an exercise's cases stay data.

An exercise says how its arguments follow from a shape (a `Maker`); `cases` calls that maker for
shapes, dtypes, fills and views, and names each case by what is special about it. The numbers of a
case depend on its name, so two cases never share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

import torch

from graders.judge.records import Arg, Case, Fill, TensorSpec, View

Maker = Callable[..., tuple[Arg, ...]]
"""(shape, **fields of TensorSpec) → the arguments of one call."""

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
HALVES = (torch.float16, torch.bfloat16)
ANY_DTYPE = (
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)
ALL_VIEWS: tuple[View, ...] = (
    "sliced",
    "transposed",
    "offset",
    "stepped_rows",
    "stepped_columns",
    "expanded_rows",
    "expanded_columns",
    "overlapping",
)
VECTOR_SIZES = tuple(
    sorted({0, 1, 2, 3, 7} | {size + by for size in (16, 64, 256, 1024) for by in (-1, 0, 1)})
)
"""Powers of two and their neighbours, one element, and none."""


def cases(
    make: Maker,
    axes: str,
    shapes: Iterable[Sequence[int] | int],
    *,
    part: str = "core",
    why: str = "",
    dtypes: Sequence[torch.dtype] = (torch.float32,),
    fills: Sequence[Fill] = ("normal",),
    views: Sequence[View] = ("contiguous",),
    scale: float = 1.0,
    shift: float = 0.0,
    draws: int = 1,
    label: str = "",
    engine_orders: bool = False,
) -> tuple[Case, ...]:
    """Return one case for each combination of shape, dtype, fill, view and draw.

    `axes` names the numbers of a shape, separated by blanks ("m k n"). `make(shape, **spec)` turns
    a shape into arguments. Each combination gets `draws` cases that differ only in their numbers.
    `label` is appended to the names, if the maker itself is special.
    """
    made = []
    for shape, dtype, fill, view, draw in product(shapes, dtypes, fills, views, range(draws)):
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        name = case_name(axes, sizes, dtype, fill, view, scale, shift, draw)
        name = f"{name}, {label}" if label else name
        args = make(sizes, dtype=dtype, fill=fill, view=view, scale=scale, shift=shift)
        made.append(case(name, args, part=part, why=why, engine_orders=engine_orders))
    return tuple(made)


def case(
    name: str,
    args: tuple[Arg, ...],
    *,
    part: str = "core",
    why: str = "",
    engine_orders: bool = False,
) -> Case:
    """Return a case for those arguments."""
    return Case(name, args, part, why, engine_orders)


def case_name(
    axes: str,
    sizes: Sequence[int],
    dtype: torch.dtype,
    fill: Fill,
    view: View,
    scale: float,
    shift: float,
    draw: int,
) -> str:
    """Return what is special about a case: its sizes, and all that is not the default."""
    words = [" ".join(f"{axis}={size}" for axis, size in zip(axes.split(), sizes, strict=True))]
    if dtype != torch.float32:
        words.append(str(dtype).removeprefix("torch."))
    if fill != "normal":
        words.append(fill.replace("_", " "))
    if view != "contiguous":
        words.append(view.replace("_", " "))
    if scale != 1.0:
        words.append(f"scale {scale:g}")
    if shift != 0.0:
        words.append(f"mean {shift:g}")
    if draw:
        words.append(f"draw {draw + 1}")
    return ", ".join(words)


def one(shape: Sequence[int], **spec: object) -> tuple[Arg, ...]:
    """Return a single tensor of that shape: the maker of one-argument exercises."""
    return (TensorSpec(tuple(shape), **spec),)  # type: ignore[arg-type]


def two(shape: Sequence[int], **spec: object) -> tuple[Arg, ...]:
    """Return two tensors of that shape: the maker of elementwise exercises with two inputs."""
    return one(shape, **spec) + one(shape, **spec)
