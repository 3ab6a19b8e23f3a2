"""What a launcher must accept, as data from which cases are constructed.

A lesson's `contract.py` has one `Contract` for each exercise. A factor is a property in which cases
differ: the size of an axis, the dtype, the layout and the values of each tensor, each count, and
each further choice. A row gives one level to each factor: axes, counts and choices by their names,
tensors by "x.view" and "x.values". `Contract.arguments` turns a row into arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import torch

from graders.judge.cases.covering import Row as Row
from graders.judge.records import Fill, Plain, TensorSpec, View

MOST_WORK = 2**14  # of a constructed case: the product of its axes


@dataclass(frozen=True)
class Axis:
    """The sizes from `low` to `high` of one axis. `sizes`, if given, are those of most cases."""

    low: int = 1
    high: int = 2**31
    sizes: tuple[int, ...] = ()

    def allows(self, size: int) -> bool:
        """Whether the contract allows this size."""
        return self.low <= size <= self.high


@dataclass(frozen=True)
class Count(Axis):
    """A whole number that the launcher gets, and that divides the axis `of`, such as `splits`.

    Its sizes follow the constants of a submission, as those of an axis do. Some rows have a larger
    count than each constant, and an axis long enough for that many blocks.
    """

    of: str = ""


@dataclass(frozen=True)
class Values:
    """A class of values. `dtypes`: the only ones that can hold them; empty: all."""

    fill: Fill = "normal"
    scale: float = 1.0
    shift: float = 0.0
    dtypes: tuple[torch.dtype, ...] = ()

    @property
    def ordinary(self) -> bool:
        return self == Values()


ORDINARY = Values()
EQUAL = Values(scale=0.0, shift=1.1)  # of no power of two: sums round
# What a tensor may be too, if it may have such a layout.
LIKE: Mapping[View, View] = {"expanded_columns": "first_column"}


@dataclass(frozen=True)
class Tensor:
    """One tensor argument. `shape` names its axes, separated by blanks; a number is a fixed size.

    `dtype`: None for the dtype that the tensors of a case share.
    """

    shape: str
    views: tuple[View, ...] = ("contiguous",)
    values: tuple[Values, ...] = (ORDINARY,)
    dtype: torch.dtype | None = None

    @property
    def layouts(self) -> tuple[View, ...]:
        """All views: those of the contract, and the ones that they imply."""
        return (*self.views, *(LIKE[view] for view in self.views if view in LIKE))

    def sizes(self, row: Row) -> tuple[int, ...]:
        """The shape in a row, in elements."""
        return tuple(int(name) if name.isdigit() else row[name] for name in self.shape.split())


@dataclass(frozen=True)
class Contract:
    """What a launcher must accept. `inputs` are its parameters, by name and in their order.

    An input that is a text names the axis, count or choice whose level is the argument. `sums`
    names axes along which the launcher adds numbers, whatever their number. `adjust` returns
    the nearest row that the contract allows, or None. `make` replaces the tensors of a row by the
    arguments of a call, if they depend on each other. `work` is the product of the axes up to
    which a case is small enough.
    """

    axes: Mapping[str, Axis]
    inputs: Mapping[str, Tensor | str]
    dtypes: tuple[torch.dtype, ...]
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    counts: Mapping[str, Count] = field(default_factory=dict)
    sums: tuple[str, ...] = ()
    adjust: Callable[[Row], Row | None] | None = None
    make: Callable[[Row, tuple[Plain, ...]], tuple[Plain, ...]] | None = None
    work: int = MOST_WORK

    @property
    def sized(self) -> Mapping[str, Axis]:
        """The axes and the counts."""
        return {**self.axes, **self.counts}

    def tensors(self) -> dict[str, Tensor]:
        """The inputs that are tensors, by name."""
        return {name: of for name, of in self.inputs.items() if isinstance(of, Tensor)}

    def factors(self, sizes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[Any, ...]]:
        """All factors with their levels; `sizes` are those of the axes and the counts."""
        made: dict[str, tuple[Any, ...]] = {name: sizes[name] for name in self.sized}
        made["dtype"] = self.dtypes
        for name, tensor in self.tensors().items():
            made[f"{name}.view"] = tensor.layouts
            made[f"{name}.values"] = tensor.values
        return made | dict(self.choices)

    def allowed(self, row: Row) -> Row | None:
        """The row, adjusted where factors depend on each other; None if it is not allowed."""
        for name in self.tensors():
            values: Values = row[f"{name}.values"]
            if values.dtypes and row["dtype"] not in values.dtypes:
                row = {**row, f"{name}.values": ORDINARY}
        if self.adjust is not None:
            adjusted = self.adjust(dict(row))
            if adjusted is None:
                return None
            row = adjusted
        return row if all(size.allows(row[name]) for name, size in self.sized.items()) else None

    def size(self, row: Row) -> int:
        """The product of the axes."""
        return prod(row[name] for name in self.axes)

    def arguments(self, row: Row) -> tuple[Plain, ...]:
        """The arguments of the call that a row describes."""
        made: list[Plain] = []
        for name, of in self.inputs.items():
            if isinstance(of, str):
                made.append(row[of])
                continue
            values: Values = row[f"{name}.values"]
            spec = TensorSpec(
                of.sizes(row), of.dtype or row["dtype"], values.fill, row[f"{name}.view"]
            )
            made.append(replace(spec, scale=values.scale, shift=values.shift))
        args = tuple(made)
        return args if self.make is None else self.make(row, args)

    def name(self, row: Row) -> str:
        """What is special about a row: its sizes, and all that is not ordinary."""
        words = [" ".join(f"{name}={row[name]}" for name in self.sized)]
        words += [f"{name}={row[name]}" for name in self.choices]
        if row["dtype"] != torch.float32:
            words.append(str(row["dtype"]).removeprefix("torch."))
        for name in self.tensors():
            view, values = row[f"{name}.view"], row[f"{name}.values"]
            if view != "contiguous":
                words.append(f"{name} {view.replace('_', ' ')}")
            if not values.ordinary:
                words.append(f"{name} {_in_words(values)}")
        return ", ".join(words)


FLAT = ("contiguous", "offset", "stepped_columns", "expanded_columns")  # views of a vector
STACKED = ("interleaved", "rotated", "rotated_sliced")  # views that need three axes


def last_axes(row: Row, args: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """The arguments with the last `dims` axes of each tensor only: a `make` for any shape."""
    made: list[Plain] = []
    for arg in args:
        if isinstance(arg, TensorSpec):
            shape = arg.shape[-row["dims"] :]
            fits = arg.view in FLAT if len(shape) == 1 else arg.view not in STACKED
            view = arg.view if fits or len(shape) > 2 else "contiguous"
            arg = replace(arg, shape=shape, view=view)
        made.append(arg)
    return tuple(made)


def _in_words(values: Values) -> str:
    words = [] if values.fill == "normal" else [values.fill.replace("_", " ")]
    words += [f"scale {values.scale:g}"] if values.scale != 1.0 else []
    words += [f"mean {values.shift:g}"] if values.shift != 0.0 else []
    return " ".join(words)
