"""Which argument of a launch arrived at which parameter of the kernel, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST_SHOWN = 16


def arrived(bound: Mapping[str, Any]) -> str:
    """`The arguments arrive so: x_ptr ← tensor (1000,), n ← 1000.`"""
    shown = [f"{name} ← {_in_words(value)}" for name, value in list(bound.items())[:MOST_SHOWN]]
    return f"The arguments arrive so: {', '.join(shown)}."


def by_place(names: Sequence[str], positional: Sequence[Any], named: Mapping[str, Any]) -> str:
    """The same for a launch that does not fit its kernel: what has no parameter, or no argument."""
    given = {**dict(zip(names, positional, strict=False)), **named}
    known = {name: given[name] for name in names if name in given}
    left = [name for name in names if name not in given]
    over = [_in_words(value) for value in positional[len(names) :]]
    nothing = f" Nothing arrives at {', '.join(left)}." if left else ""
    too_many = f" No parameter is left for {', '.join(over)}." if over else ""
    return f"{arrived(known)}{nothing}{too_many}{_whole_tuple(known)}"


def _whole_tuple(known: Mapping[str, Any]) -> str:
    """A tuple takes one parameter where its numbers were meant for several."""
    for name, value in known.items():
        if isinstance(value, tuple):
            return (
                f" A whole tuple arrives at {name}: x.stride() and x.shape are unpacked by a star, "
                "*x.stride(), or handed over number by number, x.stride(0), x.stride(1)."
            )
    return ""


def astray(bound: Mapping[str, Any]) -> str:
    """What arrived where it can hardly belong; empty where all looks well."""
    for name, value in bound.items():
        tensor = hasattr(value, "data_ptr")
        pointer = name.lower().endswith(("ptr", "pointer"))
        if pointer and isinstance(value, (bool, int, float)):
            return f"{arrived(bound)} Is the order that of the kernel's parameters?"
        if tensor and not pointer and _has_pointers(bound):
            return f"{arrived(bound)} Is the order that of the kernel's parameters?"
        if isinstance(value, float) and name.isupper():
            whole = f"pass {int(value)}, or divide" if value.is_integer() else "divide"
            return f"{name} is {value}, a float: {whole} with //."
    return ""


def _has_pointers(bound: Mapping[str, Any]) -> bool:
    """Whether this kernel calls its pointers so, as the course does."""
    return any(name.lower().endswith(("ptr", "pointer")) for name in bound)


def _in_words(value: Any) -> str:
    if hasattr(value, "data_ptr"):
        return f"tensor {tuple(getattr(value, 'shape', ()))}"
    if isinstance(value, (bool, int, float, str)):
        return repr(value)[:40]
    if isinstance(value, tuple):
        return f"the tuple {value}"[:60]
    return f"a {type(value).__name__}"
