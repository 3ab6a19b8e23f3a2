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
    """The same for a launch that does not fit its kernel: parameters or arguments left over."""
    given = {**dict(zip(names, positional, strict=False)), **named}
    known = {name: given[name] for name in names if name in given}
    left = [name for name in names if name not in given]
    over = [_in_words(value) for value in positional[len(names) :]]
    nothing = f" Nothing arrives at {', '.join(left)}." if left else ""
    too_many = f" No parameter is left for {', '.join(over)}." if over else ""
    moved = _moved_up(known) if left and not over else ""
    return f"{arrived(known)}{nothing}{moved}{too_many}{_whole_tuple(known)}"


def _moved_up(known: Mapping[str, Any]) -> str:
    """How the other arguments moved up if one of them was omitted."""
    wrong = _misplaced(known)
    if wrong:
        return (
            f" {wrong} So its argument or one before it was probably left out: arguments without "
            "a name go by their place, and all later ones move up by one parameter."
        )
    return (
        " Arguments without a name go by their place: where one is left out, all later ones move "
        "up by one parameter."
    )


def _whole_tuple(known: Mapping[str, Any]) -> str:
    """A sentence on a tuple that was passed whole, although its numbers were meant for several."""
    for name, value in known.items():
        if isinstance(value, tuple):
            return (
                f" A whole tuple arrives at {name}: x.stride() and x.shape are unpacked by a star, "
                "*x.stride(), or handed over number by number, x.stride(0), x.stride(1)."
            )
    return ""


def astray(bound: Mapping[str, Any]) -> str:
    """Arguments that probably belong to another parameter; "" if there are none."""
    wrong = _misplaced(bound)
    if wrong:
        return (
            f"{wrong} Are the arguments of the launch in the order of the kernel's `def` line? "
            f"{arrived(bound)}"
        )
    for name, value in bound.items():
        if isinstance(value, float) and name.isupper():
            whole = f"pass {int(value)}, or divide" if value.is_integer() else "divide"
            return f"{name} is {value}, a float: {whole} with //."
    return ""


def _misplaced(bound: Mapping[str, Any]) -> str:
    """Which pointer got a number, and which number a tensor, by the names of the parameters."""
    said = []
    for name, value in bound.items():
        pointer = name.lower().endswith(("ptr", "pointer"))
        if pointer and isinstance(value, (bool, int, float)):
            said.append(f"{name} is a pointer, and gets the number {value!r}, not a tensor.")
        elif hasattr(value, "data_ptr") and not pointer and _has_pointers(bound):
            said.append(f"{name} is not called a pointer, and gets a tensor.")
    return " ".join(said[:2])


def _has_pointers(bound: Mapping[str, Any]) -> bool:
    """Whether this kernel names its pointers as the course does."""
    return any(name.lower().endswith(("ptr", "pointer")) for name in bound)


def _in_words(value: Any) -> str:
    if hasattr(value, "data_ptr"):
        shape = tuple(getattr(value, "shape", ()))  # () while a kernel is compiled: unknown
        return f"tensor {shape}" if shape else "a tensor"
    if isinstance(value, (bool, int, float, str)):
        return repr(value)[:40]
    if isinstance(value, tuple):
        return f"the tuple {value}"[:60]
    return f"a {type(value).__name__}"
