"""`tl.tensor` where Python needs one value (`if`, an index, a text), and functions of `tl`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import triton.language as tl

from triton_util.interpreter.operations.blocks import Block
from triton_util.interpreter.state import Divergence, NeedsSerial

if TYPE_CHECKING:
    from triton_util.interpreter.contracts import Deciding

# Operators of constants with a block on their right.
_OPERATORS = (
    *("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__lshift__"),
    *("__rshift__", "__and__", "__or__", "__xor__"),
    *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"),
)


def patched_tensor(control: Callable[[], Deciding]) -> Callable[[Any, Any], None]:
    """The replacement for triton's `_patch_lang_tensor`; `control` returns that of the launch."""

    def patch(tensor: Any, scope: Any) -> None:
        scope.set_attr(tensor, "__index__", lambda self: int(control().agreed(self)))
        scope.set_attr(tensor, "__bool__", lambda self: _truth(control(), self))
        scope.set_attr(tensor, "__repr__", lambda self: repr(_shown(control(), self)))
        scope.set_attr(tensor, "__str__", lambda self: str(_shown(control(), self)))
        scope.set_attr(tensor, "T", property(_transposed))
        scope.set_attr(tensor, "__getitem__", _checked_index(tensor.__getitem__))
        for name in _OPERATORS:
            scope.set_attr(tl.constexpr, name, _left_of_blocks(getattr(tl.constexpr, name)))

    return patch


def _left_of_blocks(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Let the block compute `SCALE * block`; the constant would wrap the block as its value."""

    def operator(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, tl.tensor) else plain(self, other)

    return operator


def _checked_index(plain: Callable[..., Any]) -> Callable[..., Any]:
    """`block[:, None]` as in Triton; other indices raise an error, in every triton version."""

    def index(self: Any, slices: Any) -> Any:
        parts = slices if isinstance(slices, tuple) else (slices,)
        for part in parts:
            part = part.value if isinstance(part, tl.constexpr) else part
            if part is None or (isinstance(part, slice) and part == slice(None)):
                continue
            if self.type.scalar.is_ptr():
                raise TypeError("cannot index a pointer")
            raise TypeError(f"unsupported tensor index: {part!r}")
        if sum(isinstance(part, slice) for part in parts) > len(self.shape):
            raise ValueError(f"too many indices for tensor of rank {len(self.shape)}")
        return plain(self, slices)

    return index


def _truth(control: Deciding, tensor: Any) -> bool:
    """The truth of a tensor's value; Triton's own `if other` asks only whether a tensor exists."""
    asking = sys._getframe(2).f_globals.get("__name__", "")
    return asking in ("triton.language.semantic", "triton.language.core") or bool(
        control.agreed(tensor)
    )


def is_one_element(block: Block) -> bool:
    """Whether the block is a scalar or has one element."""
    return not block.shape or int(np.prod(block.shape)) == 1


def agreed_value(block: Block, active: Any) -> Any:
    """The one value that all active programs have; raises Divergence if they differ."""
    if not is_one_element(block):
        raise ValueError("Boolean value of Tensor with more than one value is ambiguous")
    values = block.data.reshape(-1)
    if values.size == 1:
        return values[0]
    relevant = values if active is None else values[active]
    if relevant.size and (relevant != relevant[0]).any():
        raise Divergence(values)
    return relevant[0] if relevant.size else values[0]


def _shown(control: Deciding, tensor: Any) -> Any:
    if control.batch.programs > 1:
        raise NeedsSerial("the kernel shows values of single programs")
    return tensor.handle.full(1)[0]


def _transposed(tensor: Any) -> Any:
    from triton_util.interpreter.operations.shapes import permute

    rank = len(tensor.handle.shape)
    order = [*range(rank - 2), rank - 1, rank - 2]
    block = permute(tensor.handle, order)
    return tl.tensor(block, tl.block_type(tensor.dtype, list(block.shape)))


CONTROL = " tw"  # the name of `Control` in a rewritten kernel, impossible in any source


class ImportedFunctions(ast.NodeTransformer):
    """Turn `load` of `from triton.language import load` into `tl.load`, which is patched."""

    def __init__(self, function: Any) -> None:
        code = function.__code__
        local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        known = {name: function.__globals__.get(name) for name in {*code.co_names} - local}
        self._imported = {
            name: member.__name__
            for name, member in known.items()
            if tl.core.is_builtin(member) and hasattr(tl, member.__name__)
        }

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._imported:
            return node
        path = ast.parse(f"control.language.{self._imported[node.id]}", mode="eval").body
        for part in ast.walk(path):
            if isinstance(part, ast.Name):
                part.id = CONTROL
        return ast.copy_location(path, node)
