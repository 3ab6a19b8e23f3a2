"""Gather the source of a submission from a running session.

It contains the learner's function and everything it needs from the session: kernels, helper
functions, constants and imports, from any cells. The session's current state counts: a function's
own source, a constant's present value. For the rest (lists of configs, classes, imports) it uses
the statements of the cells. If a cell of the lesson rebinds a name that the learner bound, the
learner's own statement counts, as it does in the notebook's file.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import symtable
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType, ModuleType

from triton_util.notebook.given import fingerprint
from triton_util.notebook.literals import literal, modules_of
from triton_util.notebook.session import Cell, Session

_WRAPPERS = 8  # enough for autotune over heuristics over jit, and some more


class GatherError(Exception):
    """The submission cannot be read from the session: title, reason, and the next step."""

    def __init__(self, title: str, message: str, next_step: str) -> None:
        super().__init__(f"{title}. {message} {next_step}")
        self.title = title
        self.message = message
        self.next_step = next_step


@dataclass(frozen=True)
class Place:
    """A line as the learner counts it: `cell [3]`, line 12."""

    label: str
    line: int

    def __str__(self) -> str:
        return f"{self.label}, line {self.line}"


@dataclass(frozen=True)
class Gathered:
    """The text of a submission, and the learner's place for each of its lines.

    `cells` gives the label of the cell that each name in it was taken from.
    """

    launcher: str
    text: str
    places: tuple[Place | None, ...]
    cells: tuple[tuple[str, str], ...] = ()

    def place(self, line: int | None) -> Place | None:
        """Where line `line` (counted from 1) of the text is in the session."""
        if line is None or not 1 <= line <= len(self.places):
            return None
        return self.places[line - 1]

    def around(self, line: int | None, most: int = 2) -> tuple[tuple[int, Place, str], ...]:
        """The line and at most `most` adjacent ones on each side from the same cell: for each its
        number in the text, its place, and its text.
        """
        place, lines = self.place(line), self.text.splitlines()
        if line is None or place is None:
            return ()
        found = []
        for number in range(line - most, line + most + 1):
            near = self.place(number)
            if near is not None and near == Place(place.label, place.line + number - line):
                found.append((number, near, lines[number - 1]))
        return tuple(found)

    def line_text(self, line: int | None) -> str:
        """The text of that line, without its indentation; "" if there is none."""
        lines = self.text.splitlines()
        return lines[line - 1].strip() if line is not None and 1 <= line <= len(lines) else ""


@dataclass(frozen=True)
class _Piece:
    """Some lines of source and where they start; `imports` come first, merged and sorted."""

    text: str
    cell: str = ""
    line: int = 0
    is_import: bool = False


@dataclass
class _Collection:
    session: Session
    given: frozenset[str] = frozenset()
    pieces: list[_Piece] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    cells: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, value: object) -> None:
        """Add the definition of `name` as `value`, after everything that it needs."""
        if name in self.seen:
            return
        self.seen.add(name)
        piece = _learners(name, self.session, self.given) or _describe(name, value, self.session)
        for needed in _global_names(piece.text):
            if needed in self.session.namespace and needed != name:
                self.add(needed, self.session.namespace[needed])
        if piece not in self.pieces:
            self.pieces.append(piece)
        if piece.cell:
            self.cells.append((name, piece.cell))


def gather(
    launcher: str, value: object, session: Session, given: frozenset[str] = frozenset()
) -> Gathered:
    """The source of `value`, a function of the session, with everything that it needs.

    `given` are the fingerprints of the cells that the lesson gives (see `given.fingerprint`).
    Raises GatherError, with a message for the learner, if the source is not available.
    """
    collection = _Collection(session, given)
    collection.add(launcher, value)
    imports = sorted((piece for piece in collection.pieces if piece.is_import), key=_import_order)
    rest = [piece for piece in collection.pieces if not piece.is_import]
    return _join(launcher, imports, rest, tuple(collection.cells))


def _import_order(piece: _Piece) -> tuple[bool, str]:
    return "__future__" not in piece.text, piece.text


def _join(
    launcher: str, imports: list[_Piece], rest: list[_Piece], cells: tuple[tuple[str, str], ...]
) -> Gathered:
    lines: list[str] = []
    places: list[Place | None] = []
    for piece in [*imports, *rest]:
        if not piece.is_import and lines:
            lines += [""]
            places += [None]
        for offset, text in enumerate(piece.text.splitlines()):
            lines.append(text)
            places.append(Place(piece.cell, piece.line + offset) if piece.cell else None)
    return Gathered(launcher, "\n".join(lines) + "\n", tuple(places), cells)


def _describe(name: str, value: object, session: Session) -> _Piece:
    if isinstance(value, ModuleType):
        return _module_import(name, value)
    function = inner_function(value)
    if function is not None and function.__globals__ is session.namespace:
        return _definition(name, value, function, session)
    expression = literal(value)
    if expression is not None:
        return _constant(name, expression, session)
    return _foreign_import(name, value, session) or _statement(name, value, session)


def _constant(name: str, expression: str, session: Session) -> _Piece:
    """An assignment of the present value, at the position of the original statement."""
    modules = modules_of(expression)
    if modules:
        imports = "".join(f"import {module}\n" for module in modules)
        return _Piece(f"{imports}{name} = {expression}")
    made = _binding(name, session)
    text = f"{name} = {expression}"
    return _Piece(text) if made is None else _Piece(text, made.cell, made.line)


def inner_function(value: object) -> FunctionType | None:
    """The Python function in a function, a kernel, or a kernel under autotune or heuristics."""
    for _ in range(_WRAPPERS):
        if isinstance(value, FunctionType):
            return value
        inner = getattr(value, "fn", None) or getattr(value, "__wrapped__", None)
        if inner is None:
            return None
        value = inner
    return None


def is_kernel(value: object) -> bool:
    """Whether this is a result of @triton.jit, or a wrapper around one."""
    return not isinstance(value, FunctionType) and inner_function(value) is not None


def _module_import(name: str, module: ModuleType) -> _Piece:
    path = module.__name__
    text = f"import {path}" if path == name else f"import {path} as {name}"
    return _Piece(text, is_import=True)


def _definition(name: str, value: object, function: FunctionType, session: Session) -> _Piece:
    """The text of a function of the session, including its decorators."""
    if function.__closure__:
        raise GatherError(
            f"`{name}` is defined inside another function",
            f"It uses variables of the function around it ({', '.join(_captured(function))}), "
            "which exist only while that one runs.",
            "Define it at the left margin of a cell.",
        )
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, SyntaxError):
        return _statement(name, value, session)
    text = textwrap.dedent("".join(lines)).rstrip()
    if not text.lstrip().startswith(("def ", "@", "async def ")):
        return _statement(name, value, session)  # a lambda
    if value is not function and not text.startswith("@"):
        return _statement(name, value, session)  # kernel = triton.jit(function)
    label, shift = _label(function.__code__.co_filename, session)
    if function.__name__ != name:
        text += f"\n\n\n{name} = {function.__name__}"
    return _Piece(text, label, first + shift)


def _captured(function: FunctionType) -> tuple[str, ...]:
    return function.__code__.co_freevars


def _label(filename: str, session: Session) -> tuple[str, int]:
    for cell in reversed(session.cells):
        if cell.filename == filename:
            return cell.label, cell.first_line - 1
    return "", 0


def _foreign_import(name: str, value: object, session: Session) -> _Piece | None:
    """An import of `value`: the learner's own if it still yields `value`, else a new one."""
    written = _binding(name, session)
    if written is not None and written.is_import and _imports(written.text, name) is value:
        return written
    home = inner_function(value) or value  # a kernel object has the module of its class
    module_name = getattr(home, "__module__", None)
    inner = getattr(home, "__qualname__", None) or getattr(home, "__name__", None)
    if not isinstance(module_name, str) or not isinstance(inner, str) or "." in inner:
        return None
    if module_name == "__main__":
        return None
    parts = module_name.split(".")
    for length in range(1, len(parts) + 1):  # the shortest path is the public one
        module = sys.modules.get(".".join(parts[:length]))
        if module is None or module.__dict__ is session.namespace:
            continue
        if getattr(module, inner, None) is value:
            alias = "" if inner == name else f" as {name}"
            return _Piece(f"from {module.__name__} import {inner}{alias}", is_import=True)
    return None


def _imports(text: str, name: str) -> object:
    """What an import statement binds to `name`, according to the loaded modules."""
    statement = ast.parse(text).body[0]
    if not isinstance(statement, ast.ImportFrom) or statement.level or statement.module is None:
        return None
    module = sys.modules.get(statement.module)
    return getattr(module, statement.names[0].name, None)


def _statement(name: str, value: object, session: Session) -> _Piece:
    found = _binding(name, session)
    if found is None:
        raise GatherError(
            f"The source of `{name}` cannot be found",
            f"`{name}` is of type {type(value).__name__}, and no cell that was run defines it.",
            f"Write the definition of `{name}` in a cell of this notebook (or in the script), "
            "run it, and check again.",
        )
    return found


def _binding(name: str, session: Session) -> _Piece | None:
    """The newest top-level statement of the session's cells that binds `name`."""
    for cell in reversed(session.cells):
        statement = bound_in(cell.source).get(name)
        if statement is not None:
            return _cut(name, statement, cell)
    return None


def _learners(name: str, session: Session, given: frozenset[str]) -> _Piece | None:
    """The learner's statement that binds `name`, if a cell of the lesson rebound it later."""
    covered = False
    for cell in reversed(session.cells if given else ()):
        statement = bound_in(cell.source).get(name)
        if statement is None:
            continue
        if fingerprint(cell.source) not in given:
            return _cut(name, statement, cell) if covered else None
        covered = True
    return None


@lru_cache(maxsize=512)
def bound_in(source: str) -> Mapping[str, ast.stmt]:
    """The names that a cell binds, each with the last statement that binds it."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return {}
    return {name: statement for statement in body for name in _bound(statement)}


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement binds."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {statement.name}
        case ast.Import() | ast.ImportFrom():
            return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _cut(name: str, statement: ast.stmt, cell: Cell) -> _Piece:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return _cut_import(name, statement)
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    last = statement.end_lineno or statement.lineno
    text = "\n".join(cell.source.splitlines()[first - 1 : last])
    if ";" in text:  # several statements on one line: take only this one
        text = ast.unparse(statement)
    return _Piece(text, cell.label, first + cell.first_line - 1)


def _cut_import(name: str, statement: ast.Import | ast.ImportFrom) -> _Piece:
    """The import of this one name."""
    for alias in statement.names:
        if (alias.asname or alias.name.partition(".")[0]) == name:
            one: ast.stmt = (
                ast.Import([alias])
                if isinstance(statement, ast.Import)
                else ast.ImportFrom(statement.module, [alias], statement.level)
            )
            return _Piece(ast.unparse(one), is_import=True)
    raise AssertionError(f"{name} is not bound by this import")


def _global_names(text: str) -> list[str]:
    """Global names that a piece reads, in alphabetical order, without built-in ones."""
    try:
        table = symtable.symtable(text, "<piece>", "exec")
    except SyntaxError:
        return []
    names: set[str] = set()
    pending = [table]
    while pending:
        scope = pending.pop()
        pending += scope.get_children()
        for symbol in scope.get_symbols():
            if symbol.is_referenced() and (scope is table or symbol.is_global()):
                names.add(symbol.get_name())
    return sorted(name for name in names if not hasattr(builtins, name))
