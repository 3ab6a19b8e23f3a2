"""Check hints to the compiler, `tl.multiple_of` and `tl.max_constancy`, which it trusts.

Because of an untrue hint the compiler may make a load so wide that its address is misaligned, or
apply one lane's mask to its neighbours. The interpreter computes the same values with and without
a hint, so hints are checked here. `tl.max_contiguous` is not checked: it is often untrue where
rows wrap around at the end of a matrix, and harmless on an axis that is multiplied by a stride.
A hint on a pointer is in bytes. GPU memory is aligned to larger powers of two than CPU memory, so
the check requires at most the alignment of one load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import triton.language as tl

from triton_util.interpreter.operations.blocks import Block, Pointer
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.state import Batch

VECTOR = 16  # bytes of the widest load


class Requiring(Protocol):
    """The part of the launch that hints need: `launch.Launching`."""

    batch: Batch

    def require(self, condition: Any, message: str, hint: str = "") -> None:
        """Raise a fault unless `condition` holds in every lane of every active program."""


def checked(name: str, hint: Callable[..., Any], launch: Callable[[], Requiring]) -> Any:
    """The hint of this name, with a check that it is true."""
    holds, told = _CHECKS[name]

    def call(input: Any, values: Any, **named: Any) -> Any:
        result = hint(input, values, **named)
        block = getattr(input, "handle", None)
        if isinstance(block, Block):
            running = launch()
            sizes = [int(getattr(value, "value", value)) for value in _listed(values)]
            asked = [math.gcd(size, VECTOR) for size in sizes] if _points(block) else sizes
            data = block.full(running.batch.programs)
            if _points(block):
                asked = _along_rows(data, asked, block.item_bytes)  # type: ignore[attr-defined]
            held = np.array([holds(lanes, asked) for lanes in data])
            shown = sizes[0] if len(sizes) == 1 else sizes
            running.require(Block(held, tl.int1, ()), told.format(sizes=shown), f"tl.{name}")
        return result

    return call


def _points(block: Block) -> bool:
    return isinstance(block, Pointer)


def _along_rows(addresses: Array, asked: list[int], item_bytes: int) -> list[int]:
    """The requirements of a tile for the axes whose lanes are adjacent in memory.

    The compiler makes wide loads along these axes; hints on other axes have no effect.
    """
    if addresses.ndim < 3:
        return asked
    return [
        size
        if (np.diff(addresses.astype(np.int64), axis=axis) == item_bytes).all()
        and addresses.shape[axis] > 1
        else 1
        for axis, size in enumerate(asked, start=1)
    ]


def _listed(values: Any) -> list[Any]:
    values = getattr(values, "value", values)
    return list(values) if isinstance(values, Sequence) or hasattr(values, "__iter__") else [values]


def _is_multiple(lanes: Array, sizes: Sequence[int]) -> bool:
    """Whether the first lanes along each axis are multiples; the others may be consecutive."""
    if not lanes.shape:
        return not lanes % sizes[0]
    firsts = (np.take(lanes, 0, axis=axis) for axis in range(lanes.ndim))
    return not any(np.any(first % size) for first, size in zip(firsts, sizes, strict=True))


def _is_constant(lanes: Array, sizes: Sequence[int]) -> bool:
    """Whether this many lanes are equal, group by group, along each axis."""
    for axis, size in enumerate(sizes[: lanes.ndim]):
        along = np.moveaxis(lanes, axis, -1)
        size = min(size, along.shape[-1])
        if along.shape[-1] % size:
            continue
        groups = along.reshape(*along.shape[:-1], -1, size)
        if (groups != groups[..., :1]).any():
            return False
    return True


_CHECKS: dict[str, tuple[Callable[[Array, Sequence[int]], bool], str]] = {
    "multiple_of": (_is_multiple, "the value is no multiple of {sizes}"),
    "max_constancy": (_is_constant, "the lanes are not equal in groups of {sizes}"),
}
