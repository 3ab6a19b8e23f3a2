"""Write a constant of the learner's session as Python source, if its value is plain data."""

from __future__ import annotations

import math
import sys
from typing import Any

_DEPTH = 8


def literal(value: object) -> str | None:
    """An expression that yields `value`, or None if no short one certainly does.

    Numbers, text, None, torch and triton dtypes, `tl.constexpr`, and tuples, lists, sets and
    dicts of these. It uses the full names of libraries (see `modules_of`).
    """
    return _write(value, _DEPTH)


def modules_of(expression: str) -> tuple[str, ...]:
    """The modules that an expression of `literal` needs imported."""
    return tuple(name for name in ("triton.language", "torch") if f"{name}." in expression)


def _write(value: object, depth: int) -> str | None:
    if value is None or isinstance(value, bool | int | str | bytes):
        return repr(value) if type(value) in _PLAIN else None
    if type(value) is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if depth == 0:
        return None
    if type(value) in (tuple, list, set, frozenset):
        return _write_sequence(value, depth)  # type: ignore[arg-type]
    if type(value) is dict:
        return _write_dict(value, depth)
    return _write_library(value, depth)


_PLAIN = (type(None), bool, int, str, bytes)


def _write_sequence(
    value: tuple[Any, ...] | list[Any] | set[Any] | frozenset[Any], depth: int
) -> str | None:
    items = [_write(item, depth - 1) for item in value]
    if any(item is None for item in items):
        return None
    inside = ", ".join(item for item in items if item is not None)
    if isinstance(value, tuple):
        return f"({inside},)" if len(items) == 1 else f"({inside})"
    if isinstance(value, list):
        return f"[{inside}]"
    return f"{type(value).__name__}([{inside}])"


def _write_dict(value: dict[Any, Any], depth: int) -> str | None:
    pairs = [(_write(key, depth - 1), _write(item, depth - 1)) for key, item in value.items()]
    if any(key is None or item is None for key, item in pairs):
        return None
    return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"


def _write_library(value: object, depth: int) -> str | None:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.dtype):
        return str(value)
    language = sys.modules.get("triton.language")
    if language is None:
        return None
    if isinstance(value, language.constexpr):
        inner = _write(value.value, depth - 1)
        return None if inner is None else f"triton.language.constexpr({inner})"
    if isinstance(value, language.dtype):
        for name in ("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                     "uint64", "float16", "bfloat16", "float32", "float64"):  # fmt: skip
            if getattr(language, name, None) == value:
                return f"triton.language.{name}"
    return None
