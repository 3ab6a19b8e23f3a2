"""Compares a text with the model, allowing independent statements to change places."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

_BODIES = ("body", "orelse", "finalbody", "handlers")
_ALL = "everything"  # what a `return` touches, so no line may move past it


@dataclass(frozen=True)
class _Touched:
    """The names that a statement reads and writes; `*name` is the memory behind a pointer."""

    reads: frozenset[str]
    writes: frozenset[str]

    def conflicts(self, other: _Touched) -> bool:
        if _ALL in self.writes | other.writes:
            return True
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)


def same(model: str, text: str) -> bool:
    """Whether `text` has the statements of `model`, each after those that it depends on."""
    try:
        return _same(ast.parse(model).body, ast.parse(text).body)
    except SyntaxError:
        return False


def conflict(model: Sequence[str], text: Sequence[str]) -> tuple[str, str] | None:
    """Two lines of `text` whose order differs from `model`, if their order matters."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, line in enumerate(model):
        places[line].append(place)
    ranks = [places[line].pop(0) for line in text]
    touched = [_touched_by(line) for line in text]
    for first, second in combinations(range(len(text)), 2):
        if ranks[first] > ranks[second] and touched[first].conflicts(touched[second]):
            return text[first], text[second]
    return None


def _touched_by(line: str) -> _Touched:
    """The names that one line touches; for the head of a loop, without its indented block."""
    for source in (line.strip(), f"{line.strip()} pass"):
        try:
            return _touched(ast.parse(source).body[0])
        except SyntaxError:
            continue
    return _Touched(frozenset(), frozenset())


def _same(model: Sequence[ast.stmt], text: Sequence[ast.stmt]) -> bool:
    if len(model) != len(text):
        return False
    places: dict[str, list[int]] = defaultdict(list)
    for place, statement in enumerate(text):
        places[_head(statement)].append(place)
    found = []
    for statement in model:
        waiting = places[_head(statement)]
        if not waiting:
            return False
        found.append(waiting.pop(0))
    touched = [_touched(statement) for statement in model]
    for first, second in combinations(range(len(model)), 2):
        if found[first] > found[second] and touched[first].conflicts(touched[second]):
            return False
    return all(
        _same(_body(statement, name), _body(text[place], name))
        for statement, place in zip(model, found, strict=True)
        for name in _BODIES
    )


def _body(statement: ast.stmt, name: str) -> Sequence[ast.stmt]:
    found = getattr(statement, name, ())
    return found if isinstance(found, list) else ()


def _head(statement: ast.stmt) -> str:
    """The statement without its indented block."""
    return ast.unparse(statement) if not _body(statement, "body") else _first_lines(statement)


def _first_lines(statement: ast.stmt) -> str:
    lines = ast.unparse(statement).split("\n")
    depth = next(i for i, line in enumerate(lines) if not line.startswith("@"))
    return "\n".join(lines[: depth + 1])


def _touched(statement: ast.stmt) -> _Touched:
    reads: set[str] = set()
    writes: set[str] = set()
    own: set[str] = set()  # variables of comprehensions
    for node in ast.walk(statement):
        if isinstance(node, ast.comprehension):
            own |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.Return | ast.Raise | ast.Assert | ast.Break | ast.Continue):
            writes.add(_ALL)
        elif isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else writes).add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        elif isinstance(node, ast.Call):
            _memory(node, reads, writes)
    if isinstance(statement, ast.Expr) and not any(name.startswith("*") for name in writes):
        writes.add(_ALL)  # a launch, or another call with unknown effects
    return _Touched(frozenset(reads - own), frozenset(writes - own))


def _memory(call: ast.Call, reads: set[str], writes: set[str]) -> None:
    name = ast.unparse(call.func)
    if not call.args or not name.startswith("tl."):
        return
    if name == "tl.load":
        reads.add(f"*{_root(call.args[0])}")
    elif name == "tl.store" or name.startswith("tl.atomic_"):
        writes.add(f"*{_root(call.args[0])}")


def _root(pointer: ast.expr) -> str:
    """The name that a pointer expression starts with."""
    return next((n.id for n in ast.walk(_leftmost(pointer)) if isinstance(n, ast.Name)), "")


def _leftmost(pointer: ast.expr) -> ast.expr:
    while isinstance(pointer, ast.BinOp):
        pointer = pointer.left
    return pointer
