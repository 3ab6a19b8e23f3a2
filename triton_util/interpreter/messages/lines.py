"""Refine an error by the learner's line, because the same error has several causes."""

from __future__ import annotations

import re

from triton_util import other_names
from triton_util.interpreter.messages import calls
from triton_util.interpreter.messages.values import BY_LINE

_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")
_UNCALLED = re.compile(r"\btl\.(\w+)(?![\w.(])")
_OF_POINTER = re.compile(r"\b(\w+_ptrs?)\.(?:shape|size|numel|stride)\b|\blen\((\w+_ptrs?)\)")
_DIVISION = re.compile(r"(?<![\w.])[\w.]++\s*+/(?!/)\s*+[\w.]++")
_ADDRESS = re.compile(r"^\s*\w*(?:ptr|pointer)\w*\s*[-+]?=[^=]|tl\.(load|store|atomic_\w+)\(")
_AXIS = re.compile(
    r"axis\s*=\s*(\d*\.\d*|'[^']*'|\"[^\"]*\")|,\s*(\d+\.\d*)\s*\)|\((['\"]\w*['\"])\)"
)
_INDEXED_POINTER = re.compile(r"\b\w+_ptrs?\[")
_LISTED = re.compile(
    r"\btl\.(?!zeros|full|reshape|broadcast_to|permute)(\w+)\((\w+, )?[\[(][^\])]*,"
)
_PROGRAM = re.compile(r"\b(?:pid|program_id|start)")


def by_line(kind: str, line: str, groups: dict[str, str]) -> str:
    """The kind that the learner's line shows; adds to `groups` the names that its words need."""
    if kind == "brackets-of-a-call":
        _name_function(line, groups)
    elif kind in ("number-called", "dtype-called"):
        return _called(kind, line, groups)
    elif kind in ("float-offset", "pointer-arithmetic"):
        return kind if _ADDRESS.search(line) or "ptr" not in line else "pointer-not-loaded"
    elif kind == "too-many-indices":
        return "pointer-indexed" if _INDEXED_POINTER.search(line) else kind
    elif kind in ("axis-out-of-range", "axis-no-number", "program-id-axis"):
        return _axis(kind, line, groups)
    elif kind in ("shape-for-a-number", "list-for-a-block"):
        return _listed(kind, line, groups)
    elif kind == "range-needs-constexpr":
        return _range(kind, line, groups)
    return kind


def words(kind: str, groups: dict[str, str]) -> tuple[str, str] | None:
    """Sentence and advice of a kind that only a line shows; None if the line shows too little."""
    told = BY_LINE.get(kind)
    needed = set(re.findall(r"\{(\w+)\}", "".join(told or ())))
    return told if needed <= groups.keys() else None


def too_early(name: str, before: str) -> bool:
    """Whether the kernel assigns a name somewhere, but never `before` its use."""
    return not (is_set(name, before) or re.search(rf"\bfor {re.escape(name)}\b", before))


def is_set(name: str, text: str) -> bool:
    """Whether an indented line assigns the name."""
    found = re.search(rf"^[ \t]++{re.escape(name)}[ \t]*+[-+*/|&]?=[^=]", text, re.MULTILINE)
    return found is not None


def undefined(name: str, known: set[str]) -> tuple[str, str]:
    """The kind, and what to write in place of an undefined name; "" for both if unknown."""
    if name in other_names.PYTHONS_OWN:
        return "python-function", other_names.instead_in_kernel(name)
    if name in calls.FUNCTIONS:
        return "", f"Triton's functions live in tl: write tl.{name}."
    return "", other_names.instead_in_kernel(name) or other_names.behind_pointer(name, known)


def _name_function(line: str, groups: dict[str, str]) -> None:
    found = _UNCALLED.search(line)
    name = groups.get("function") or (found[1] if found else "")
    if not name:
        groups["function"], groups["usage"] = "A function", "Write name(…), with round brackets."
        return
    groups["usage"] = calls.usage(name) if name in calls.USAGE else f"Write {name}(…)."
    groups["function"] = calls.written(name)


def _called(kind: str, line: str, groups: dict[str, str]) -> str:
    """Name the object that the line calls although it is not a function, unless Python's own."""
    functions = {"range", "min", "max", "print", "int", "float", "len"} | {*other_names.PYTHONS_OWN}
    found = [name for name in _CALLED.findall(line) if name not in functions]
    if not found:
        groups.setdefault("name", "This")
        return kind
    groups["name"] = found[0]
    return "number-called"


def _axis(kind: str, line: str, groups: dict[str, str]) -> str:
    pointer = _OF_POINTER.search(line)
    if pointer and kind == "axis-out-of-range":
        groups["name"] = pointer[1] or pointer[2]
        return "shape-of-a-pointer"
    if kind == "program-id-axis":
        return kind
    found = _AXIS.search(line)
    if found is None:
        return kind
    groups["axis"] = next(filter(None, found.groups()))
    return "axis-no-number"


def _listed(kind: str, line: str, groups: dict[str, str]) -> str:
    """Whether a function of Triton gets a list, as in `tl.dot([0.3, 0.6], [a, b])`."""
    found = _LISTED.search(line)
    if found is None:
        return kind
    groups["function"] = f"tl.{found[1]}"
    return "list-for-arguments"


def _range(kind: str, line: str, groups: dict[str, str]) -> str:
    at = line.find("tl.arange(")
    division = _DIVISION.search(line[at:]) if at >= 0 else None
    if division:
        groups["division"] = division[0].strip()
        return "range-of-a-float"
    ranges = (part.partition(")")[0] for part in line.split("tl.arange(")[1:])
    return "range-of-a-program" if any(map(_PROGRAM.search, ranges)) else kind
