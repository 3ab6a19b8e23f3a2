"""The kernels of each exercise with a known verdict, in `tests/course/<lesson>/<exercise>/`.

`correct/<style>.py` and `wrong/<code>.py` are whole submissions. `wrong.toml` contains the wrong
ones that differ from a whole one in a few lines, a table for each: `says` is its docstring, `of`
the whole one ("correct/textbook"), and `edits` are pairs of an old and a new text. An old text
must occur in the whole one exactly once.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graders.authoring.refusal import refusal
from graders.authoring.rooms import Rooms

EDITS = "wrong.toml"


@dataclass(frozen=True)
class KnownKernel:
    """A submission; `path` is the file that contains it, which edited kernels share."""

    name: str
    path: Path
    text: str

    @property
    def whole(self) -> bool:
        return self.path.suffix == ".py"


def correct_kernels(folder: Path) -> dict[str, KnownKernel]:
    """The correct kernels in the folder of an exercise by name, in alphabetical order."""
    return {path.stem: _whole(path) for path in sorted((folder / "correct").glob("*.py"))}


def wrong_kernels(folder: Path) -> dict[str, KnownKernel]:
    """The wrong kernels in the folder of an exercise by name, in alphabetical order.

    Raises GraderError, in one line, if an edit does not fit the kernel that it changes.
    """
    found = {path.stem: _whole(path) for path in (folder / "wrong").glob("*.py")}
    path = folder / EDITS
    for name, table in _tables(path).items():
        if name in found:
            raise refusal(f"{path}: there is also a file wrong/{name}.py; delete one of them")
        found[name] = KnownKernel(name, path, _edited(path, name, table))
    return dict(sorted(found.items()))


def correct_kernel(rooms: Rooms, exercise: str, name: str) -> str:
    """The text of one correct kernel; GraderError if there is none of that name."""
    return _one(correct_kernels(rooms.kernels(exercise)), f"correct {exercise}", name)


def wrong_kernel(rooms: Rooms, exercise: str, name: str) -> str:
    """The text of one wrong kernel; GraderError if there is none of that name."""
    return _one(wrong_kernels(rooms.kernels(exercise)), f"wrong {exercise}", name)


def without_docstring(text: str) -> str:
    """The text after the docstrings at the beginning of a module, if there are any."""
    first = ast.parse(text).body[:1]
    if not first or not _is_string(first[0]) or first[0].end_lineno is None:
        return text
    lines = text.splitlines(keepends=True)
    return without_docstring("".join(lines[first[0].end_lineno :]).lstrip("\n"))


def _one(kernels: Mapping[str, KnownKernel], kind: str, name: str) -> str:
    if name not in kernels:
        raise refusal(f"there is no {kind} kernel {name!r}. Known: {', '.join(kernels) or 'none'}")
    return kernels[name].text


def _whole(path: Path) -> KnownKernel:
    return KnownKernel(path.stem, path, path.read_text(encoding="utf-8"))


@cache
def _tables(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _edited(path: Path, name: str, table: Mapping[str, Any]) -> str:
    base = path.parent / f"{table['of']}.py"
    if not base.is_file():
        raise refusal(f"{path}: {name} is an edit of {table['of']}, which is not there")
    text = without_docstring(base.read_text(encoding="utf-8"))
    for old, new in table["edits"]:
        if (count := text.count(old)) != 1:
            raise refusal(f"{path}: {name}: {base.name} has {count} times what is edited:\n{old}")
        text = text.replace(old, new)
    return f'"""{table["says"]}"""\n\n{text}'


def _is_string(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
