"""Finds exactly what the launcher needs: its dependency closure by name.

The statements at the top level of all cells form one program. A statement is kept when the
launcher needs a name that it binds; everything else (tests, plots, other exercises) is
dropped and never runs. Kept statements stay on their own lines. The lesson's own binding of a
name is used only if the learner does not bind that name.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from graders.judge.submission.effects import Effects
from triton_util.notebook.stubs import body_is_empty

INLINE_SCOPES = frozenset({"listcomp", "genexpr", "dictcomp", "setcomp"})  # run immediately
BUILTIN_NAMES = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
# Calls and decorators with an effect that a launcher needs: torch.ops finds registered operators.
NEEDED_CALLS = frozenset({"triton.set_allocator"})
OPERATORS = ("custom_op", "triton_op")
_POSTPONED = "from __future__ import annotations\n"


@dataclass(frozen=True)
class Statement:
    """One statement at the top level. Line numbers count from 1 through all cells.

    `eager` names are needed when the statement runs, `lazy` ones when a function in it is
    called. `given` says that it is in a cell of the lesson that the learner did not change.
    """

    node: ast.stmt
    index: int
    text: str
    binds: frozenset[str]
    eager: frozenset[str]
    lazy: frozenset[str]
    given: bool = False

    @property
    def line(self) -> int:
        decorators = getattr(self.node, "decorator_list", None)
        return int(decorators[0].lineno if decorators else self.node.lineno)

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, ast.FunctionDef)

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, ast.Import | ast.ImportFrom)


@dataclass
class Closure:
    """The kept statements, the names needed, and those that nothing binds (name → first line)."""

    kept: set[int] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    missing: dict[str, int] = field(default_factory=dict)


def statements(
    tree: ast.Module,
    text: str,
    first_line: int,
    first_index: int,
    given: bool = False,
    postponed: bool = False,
) -> list[Statement]:
    """Return the top-level statements of a cell whose first line is `first_line` of the program.

    postponed: annotations are not evaluated, because of an import from `__future__`.
    """
    lines = [line.encode() for line in text.split("\n")]
    found: list[Statement] = []
    for node in tree.body:
        segment = _segment(lines, node)
        binds, eager, lazy = _names(node, segment, postponed)
        ast.increment_lineno(node, first_line - 1)
        index = first_index + len(found)
        found.append(Statement(node, index, segment, binds, eager, lazy, given))
    return found


def _segment(lines: list[bytes], node: ast.stmt) -> str:
    """Return the exact text of a statement with its decorators, without others on its lines."""
    decorators = getattr(node, "decorator_list", None)
    first = (decorators[0].lineno if decorators else node.lineno) - 1
    column = 0 if decorators else node.col_offset
    last = (node.end_lineno or node.lineno) - 1
    if first == last:
        return lines[first][column : node.end_col_offset].decode()
    taken = [lines[first][column:], *lines[first + 1 : last], lines[last][: node.end_col_offset]]
    return b"\n".join(taken).decode()


def _names(
    node: ast.stmt, text: str, postponed: bool
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the names that a statement binds, needs at once, and needs in later calls."""
    table = symtable.symtable(f"{_POSTPONED if postponed else ''}{text}", "<submission>", "exec")
    binds, eager = set(), set()
    for symbol in table.get_symbols():
        if postponed and symbol.get_name() == "annotations" and not is_future(node):
            continue
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
            binds.add(symbol.get_name())
        if symbol.is_referenced():
            eager.add(symbol.get_name())
    if isinstance(node, ast.AugAssign):
        eager |= binds
    lazy: set[str] = set()
    for child in table.get_children():
        _collect_globals(child, eager, lazy)
    return frozenset(binds), frozenset(eager), frozenset(lazy)


def _collect_globals(table: symtable.SymbolTable, eager: set[str], lazy: set[str]) -> None:
    runs_here = table.get_type() == "class" or table.get_name() in INLINE_SCOPES
    into = eager if runs_here else lazy
    into |= {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    for child in table.get_children():
        _collect_globals(child, into, lazy)


def is_main_guard(node: ast.stmt) -> bool:
    """Whether this is `if __name__ == "__main__":`, which is false in the judge."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def is_future(node: ast.stmt) -> bool:
    """Whether this is an import such as `from __future__ import annotations`."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def closure(program: Sequence[Statement], launcher: Statement) -> Closure:
    """Return everything that `launcher` needs, directly or indirectly."""
    program = [s for s in program if not is_main_guard(s.node)]
    by_index = {s.index: s for s in program}
    bindings = Bindings(program)
    waiting = [launcher, *bindings.altering(launcher)]
    waiting += [s for s in program if is_needed_call(s)]
    result = Closure(kept={s.index for s in waiting})
    seen: set[tuple[str, int | None]] = set()
    while waiting:
        needing = waiting.pop()
        unknown = []
        for name, limit in _needs(needing):
            if (name, limit) in seen:
                continue
            seen.add((name, limit))
            result.needed.add(name)
            chosen = [launcher] if name in launcher.binds else bindings.chosen(name, limit)
            if not chosen and name not in BUILTIN_NAMES and name not in needing.binds:
                unknown.append(name)
            fresh = {s.index for s in chosen} - result.kept
            result.kept |= fresh
            waiting += [by_index[index] for index in sorted(fresh)]
        _note_missing(result, needing, unknown)
    first = min(result.kept)
    result.kept |= {s.index for s in program if is_future(s.node) and s.index < first}
    if result.missing:
        result.kept |= {s.index for s in program if is_star_import(s.node)}
    return result


def _note_missing(result: Closure, needing: Statement, unknown: Sequence[str]) -> None:
    """Add the names that nothing binds, with the line of their first use in the statement."""
    if not unknown:
        return
    first: dict[str, int] = {}
    for node in ast.walk(needing.node):
        if isinstance(node, ast.Name):
            first[node.id] = min(node.lineno, first.get(node.id, node.lineno))
    for name in unknown:
        result.missing.setdefault(name, first.get(name, needing.line))


def is_star_import(node: ast.stmt) -> bool:
    """Whether this is `from module import *`, which may bind any name."""
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


def _needs(statement: Statement) -> Iterator[tuple[str, int | None]]:
    for name in sorted(statement.lazy):
        yield name, None
    for name in sorted(statement.eager):
        yield name, statement.index
    if isinstance(statement.node, ast.If | ast.For | ast.While | ast.Try | ast.With | ast.Match):
        for name in sorted(statement.binds):  # for example `x = 1`, then `if …: x = 2`
            yield name, statement.index


class Bindings:
    """The statements that bind each name: the learner's take precedence over the lesson's."""

    def __init__(self, program: Sequence[Statement]) -> None:
        self._bound: dict[str, tuple[_Bound, _Bound]] = {}
        self._altering: dict[str, list[Statement]] = {}
        self._told: set[tuple[str, int]] = set()
        by_name: dict[str, tuple[list[Statement], list[Statement]]] = {}
        effects = Effects([statement.node for statement in program])
        for statement in program:
            for name in statement.binds:
                by_name.setdefault(name, ([], []))[statement.given].append(statement)
            for name in effects.altered(statement.node):
                self._altering.setdefault(name, []).append(statement)
        for name, (own, given) in by_name.items():
            self._bound[name] = _Bound(own), _Bound(given)

    def altering(self, value: Statement) -> list[Statement]:
        """Return the statements that change a bound object, as `@launcher.register` does."""
        groups = ((name, self._bound[name][value.given]) for name in sorted(value.binds))
        return [s for name, group in groups for s in self._altered(name, value, group)]

    def chosen(self, name: str, limit: int | None) -> list[Statement]:
        """Return the statements that give `name` its value at statement number `limit`.

        Without a limit, its value at the end. The first call for a value also returns the
        statements that change its object.
        """
        group, position = self._place(name, limit)
        if group is None:
            return []
        value = group.value(position)
        if (name, value.index) in self._told:
            return [value]
        self._told.add((name, value.index))
        if value.is_import:
            return group.imports  # `import triton` and `import triton.language`
        return [value, *self._altered(name, value, group)]

    def _place(self, name: str, limit: int | None) -> tuple[_Bound | None, int]:
        """Return the group that binds the name, and how many of its statements come before."""
        groups = [group for group in self._bound.get(name, ()) if group.indexes]
        if limit is not None:
            for group in groups:
                before = bisect.bisect_left(group.indexes, limit)
                if before:
                    return group, before
            if any(group.holds(limit) for group in groups):
                return None, 0
        return (groups[0], len(groups[0].indexes)) if groups else (None, 0)

    def _altered(self, name: str, value: Statement, group: _Bound) -> list[Statement]:
        """Return the statements that change a name's object between this value and the next."""
        altering = self._altering.get(name, [])
        after = bisect.bisect_right(group.indexes, value.index)
        end = group.indexes[after] if after < len(group.indexes) else None
        first = bisect.bisect_right(altering, value.index, key=lambda s: s.index)
        last = len(altering)
        if end is not None:
            last = bisect.bisect_left(altering, end, key=lambda s: s.index)
        return [s for s in altering[first:last] if value.given or not s.given]


class _Bound:
    """The statements that bind one name, in order."""

    def __init__(self, bound: Sequence[Statement]) -> None:
        self.indexes = [statement.index for statement in bound]
        self.imports = [statement for statement in bound if statement.is_import]
        self._bound = bound
        self._written: list[Statement | None] = []  # the last one up to here that is not a stub
        last: Statement | None = None
        for statement in bound:
            stub = isinstance(statement.node, ast.FunctionDef) and body_is_empty(statement.node)
            last = last if stub else statement
            self._written.append(last)

    def holds(self, index: int) -> bool:
        place = bisect.bisect_left(self.indexes, index)
        return place < len(self.indexes) and self.indexes[place] == index

    def value(self, count: int) -> Statement:
        """Return the last of the first `count` that is not an unchanged stub, else the last."""
        return self._written[count - 1] or self._bound[count - 1]


def is_needed_call(statement: Statement) -> bool:
    """Whether this top-level call has an effect that a launcher needs without naming it."""
    node = statement.node
    if isinstance(node, ast.FunctionDef) and not statement.given:
        calls = (d.func for d in node.decorator_list if isinstance(d, ast.Call))
        return any(ast.unparse(call).rpartition(".")[2] in OPERATORS for call in calls)
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in NEEDED_CALLS


def sliced(program: Sequence[Statement], kept: set[int], needed: set[str], line_count: int) -> str:
    """Return the kept statements on their own lines; every other line is blank.

    Imports keep the names that are needed: `import os, torch` becomes `import torch`.
    """
    rows: dict[int, list[str]] = {}
    for statement in program:
        if statement.index in kept:
            for offset, line in enumerate(_trimmed(statement, needed).split("\n")):
                rows.setdefault(statement.line - 1 + offset, []).append(line)
    return "\n".join("; ".join(rows.get(row, ())) for row in range(max(1, line_count))) + "\n"


def _trimmed(statement: Statement, needed: set[str]) -> str:
    node = statement.node
    if not isinstance(node, ast.Import | ast.ImportFrom) or is_star_import(node):
        return statement.text
    names = [a for a in node.names if (a.asname or a.name.split(".")[0]) in needed]
    if len(names) == len(node.names) or not names:
        return statement.text
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(names))
    return ast.unparse(ast.ImportFrom(node.module, names, node.level))
