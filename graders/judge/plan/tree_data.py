"""A syntax tree as plain data: what one process has parsed, another one need not parse again.

A node is a list of its class and its fields. Its places are not part of it (see `plan.code`).
Numbers and texts that JSON lacks are written in words.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

_NODES = {
    name: kind
    for name, kind in vars(ast).items()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_WRITTEN: dict[str, Callable[[str], Any]] = {
    "int": lambda text: int(text, 16),
    "float": float.fromhex,
    "complex": complex,
}


def to_data(value: Any) -> Any:
    """Return a node, or a field of one, as data."""
    if isinstance(value, ast.AST):
        return [type(value).__name__, *[to_data(getattr(value, n, None)) for n in value._fields]]
    if isinstance(value, list):
        return {"all": [to_data(item) for item in value]}
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {"int": hex(value)}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    return {"complex": str(value)} if isinstance(value, complex) else {"ellipsis": ""}


def from_data(data: Any) -> Any:
    """Return the node or field; raises ValueError, TypeError or KeyError for other data."""
    if isinstance(data, list):
        kind = _NODES[data[0]]
        node: Any = kind(**dict(zip(kind._fields, map(from_data, data[1:]), strict=True)))
        if "lineno" in kind._attributes:
            node.lineno = node.col_offset = 0
        return node
    if not isinstance(data, dict):
        return data
    ((kind, written),) = data.items()
    if kind == "all":
        return [from_data(item) for item in written]
    if kind == "bytes":
        return written.encode("latin-1")
    return ... if kind == "ellipsis" else _WRITTEN[kind](written)
