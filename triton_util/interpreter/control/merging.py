"""Merge the values that different programs of a batch bound to the same variable."""

from __future__ import annotations

from typing import Any

import triton.language as tl
from triton.runtime import interpreter as stock

from triton_util.interpreter.operations.arithmetic import choose, choose_pointer
from triton_util.interpreter.operations.blocks import Block, Pointer
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.state import Divergence


class _Undefined:
    """The value of a variable that no path has bound yet."""

    def __repr__(self) -> str:
        return "<variable that is not defined on this path>"


UNDEFINED = _Undefined()


def merged_value(chosen: Array, first: Any, second: Any) -> Any:
    """`first` for the chosen programs, `second` for the others.

    Raises Divergence if the two have different types: such programs cannot share a batch.
    """
    if first is second or second is UNDEFINED:
        return first
    if first is UNDEFINED:
        return second
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        parts = [merged_value(chosen, a, b) for a, b in zip(first, second, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if not isinstance(first, tl.tensor) and not isinstance(second, tl.tensor):
        first, second = _unwrapped(first), _unwrapped(second)
        if type(first) is type(second) and first == second:
            return first
    return _merged_tensors(chosen, first, second)


def _unwrapped(value: Any) -> Any:
    return value.value if isinstance(value, tl.constexpr) else value


def _merged_tensors(chosen: Array, first: Any, second: Any) -> Any:
    semantic = stock.interpreter_semantic
    first, second = (semantic.to_tensor(_unwrapped(part), False) for part in (first, second))
    if not isinstance(first, tl.tensor) or not isinstance(second, tl.tensor):
        raise Divergence(chosen)
    if first.type != second.type or not isinstance(first.handle, Block):
        raise Divergence(chosen)
    rank = len(first.handle.shape)
    mask = Block(chosen.reshape((-1,) + (1,) * rank), tl.int1, first.handle.shape)
    if isinstance(first.handle, Pointer):
        return tl.tensor(choose_pointer(mask, first.handle, second.handle), first.type)
    return tl.tensor(choose(mask, first.handle, second.handle), first.type)


def unwrapped(value: Any) -> Any:
    """The value of a constant, or the value itself."""
    return value.value if isinstance(value, tl.constexpr) else value
