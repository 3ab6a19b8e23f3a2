"""What the launcher needs, and nothing else: its dependency closure by name.

The statements at the top level of all cells form one program. A statement is kept when the
launcher needs a name that it binds; everything else (tests, plots, other exercises) is
dropped and never runs. Kept statements stay on their own lines.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

INLINE_SCOPES = frozenset({"listcomp", "genexpr", "dictcomp", "setcomp"})  # run where they stand
BUILTIN_NAMES = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
# Calls for their effect that a launcher relies on.
NEEDED_CALLS = frozenset({"triton.set_allocator"})


@dataclass(frozen=True)
class Statement:
    """One statement at the top level. Line numbers count from 1 through all cells.

    `eager` names are needed when the statement runs, `lazy` ones when a function in it is
    called; `changes` is the name whose object it alters (`configs.append(…)`).
    """

    node: ast.stmt
    index: int
    text: str
    binds: frozenset[str]
    eager: frozenset[str]
    lazy: frozenset[str]
    changes: str | None

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


def statements(tree: ast.Module, text: str, first_line: int, first_index: int) -> list[Statement]:
    """The top-level statements of a cell whose first line is `first_line` of the program."""
    lines = text.split("\n")
    found: list[Statement] = []
    for node in tree.body:
        segment = _segment(lines, node)
        binds, eager, lazy = _names(node)
        ast.increment_lineno(node, first_line - 1)
        found.append(
            Statement(node, first_index + len(found), segment, binds, eager, lazy, _changed(node))
        )
    return found


def _segment(lines: list[str], node: ast.stmt) -> str:
    """The exact text of a statement, decorators included, without its neighbours on a line."""
    decorators = getattr(node, "decorator_list", None)
    first = (decorators[0].lineno if decorators else node.lineno) - 1
    column = 0 if decorators else node.col_offset
    last = (node.end_lineno or node.lineno) - 1
    taken = [line.encode() for line in lines[first : last + 1]]
    taken[-1] = taken[-1][: node.end_col_offset]
    taken[0] = taken[0][column:]
    return b"\n".join(taken).decode()


def _names(node: ast.stmt) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    table = symtable.symtable(ast.unparse(node), "<submission>", "exec")
    binds, eager = set(), set()
    for symbol in table.get_symbols():
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


def _changed(node: ast.stmt) -> str | None:
    target: ast.expr | None = None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        target = node.value.func
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
    if not isinstance(target, ast.Attribute | ast.Subscript):
        return None
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def is_main_guard(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, which never holds in the judge."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def body_is_empty(function: ast.FunctionDef) -> bool:
    """A stub: nothing but a docstring, `pass`, `...` or an empty return."""
    for node in function.body:
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        nothing = isinstance(node, ast.Return) and (
            node.value is None
            or (isinstance(node.value, ast.Constant) and node.value.value is None)
        )
        if not (constant or nothing or isinstance(node, ast.Pass | ast.Raise)):
            return False
    return True


def closure(program: Sequence[Statement], launcher: Statement) -> Closure:
    """Everything that `launcher` needs, directly or through others."""
    program = [s for s in program if not is_main_guard(s.node)]
    by_index = {s.index: s for s in program}
    binding, altering = _by_name(program)
    waiting = [launcher, *(s for s in program if is_needed_call(s))]
    result = Closure(kept={s.index for s in waiting})
    seen: set[tuple[str, int | None]] = set()
    while waiting:
        needing = waiting.pop()
        for name, limit in _needs(needing):
            if (name, limit) in seen:
                continue
            seen.add((name, limit))
            result.needed.add(name)
            chosen = [launcher]
            if name not in launcher.binds:
                chosen = _best(binding.get(name, []), limit)
                if chosen and not chosen[0].is_import:
                    later = altering.get(name, [])
                    chosen += [s for s in later if s.index > chosen[0].index]
            if not chosen and name not in BUILTIN_NAMES and name not in needing.binds:
                result.missing.setdefault(name, _first_use(needing.node, name))
            fresh = {s.index for s in chosen} - result.kept
            result.kept |= fresh
            waiting += [by_index[index] for index in sorted(fresh)]
    if result.missing:
        result.kept |= {s.index for s in program if is_star_import(s.node)}
    return result


def is_star_import(node: ast.stmt) -> bool:
    """`from module import *`, which may bind any name."""
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


def _needs(statement: Statement) -> Iterator[tuple[str, int | None]]:
    for name in sorted(statement.lazy):
        yield name, None
    for name in sorted(statement.eager):
        yield name, statement.index
    if not statement.is_function and not statement.is_import:
        for name in sorted(statement.binds):  # `x = 1`, then `if …: x = 2`
            yield name, statement.index


def _by_name(
    program: Sequence[Statement],
) -> tuple[dict[str, list[Statement]], dict[str, list[Statement]]]:
    """The statements that bind each name, and those that change its object."""
    binding: dict[str, list[Statement]] = {}
    altering: dict[str, list[Statement]] = {}
    for statement in program:
        for name in statement.binds:
            binding.setdefault(name, []).append(statement)
        if statement.changes is not None:
            altering.setdefault(statement.changes, []).append(statement)
    return binding, altering


def _best(bound: Sequence[Statement], limit: int | None) -> list[Statement]:
    """Of the statements that bind a name, what gives it its value at `limit`, or after all."""
    if not bound:
        return []
    before = [s for s in bound if limit is None or s.index < limit]
    if not before and limit is not None and any(s.index == limit for s in bound):
        return []
    pool = before or bound
    if pool[-1].is_import:
        return [s for s in bound if s.is_import]  # `import triton` and `import triton.language`
    return [_last_written(pool)]


def _last_written(pool: Sequence[Statement]) -> Statement:
    """The last definition wins, but an untouched stub wins over nothing that is written."""
    written = [
        s for s in pool if not (isinstance(s.node, ast.FunctionDef) and body_is_empty(s.node))
    ]
    return (written or pool)[-1]


def _first_use(node: ast.AST, name: str) -> int:
    lines = [n.lineno for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    return min(lines, default=getattr(node, "lineno", 1))


def is_needed_call(statement: Statement) -> bool:
    """A top-level call for its effect, which a launcher relies on without naming it."""
    node = statement.node
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in NEEDED_CALLS


def sliced(program: Sequence[Statement], kept: set[int], needed: set[str], line_count: int) -> str:
    """The kept statements on their own lines; every other line is blank.

    Imports keep the names that are needed: `import os, torch` becomes `import torch`.
    """
    out = [""] * max(1, line_count)
    for statement in program:
        if statement.index not in kept:
            continue
        text = _trimmed(statement, needed)
        for offset, line in enumerate(text.split("\n")):
            row = statement.line - 1 + offset
            out[row] = f"{out[row]}; {line}" if out[row] else line
    return "\n".join(out) + "\n"


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
