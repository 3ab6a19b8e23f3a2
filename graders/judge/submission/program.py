"""The statements of a submission, and the part of them that its launcher needs.

This runs in the reading process: see `reader`.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from graders.judge.plain_text import one_line
from graders.judge.plan.code import Code, placed
from graders.judge.static.gate import read_gate
from graders.judge.submission.canonical import canonical
from graders.judge.submission.python_text import Broken, Cell, parsed
from graders.judge.submission.refusals import (
    TRITON_NAMES,
    SubmissionError,
    did_you_mean,
    missing_launcher,
    refusal,
    syntax_refusal,
)
from graders.judge.submission.slices import (
    Statement,
    closure,
    is_future,
    is_star_import,
    sliced,
    statements,
)
from triton_util.notebook.stubs import body_is_empty
from triton_util.other_names import behind_pointer, instead_in_kernel, instead_in_launcher
from triton_util.report import Finding

CODE_LIMIT = 1_000_000  # characters: parsing takes hundreds of times as much memory
STATEMENT_LIMIT = 10_000  # at the top level
NODE_LIMIT = 25_000  # of the launcher's syntax tree: ten times that of honest ones
_DEFINITION = re.compile(r"^[ \t]*+(?:def[ \t]++(\w++)[ \t]*+\(|(\w++)[ \t]*+=[^=])", re.MULTILINE)


@dataclass(frozen=True)
class Wanted:
    """What an exercise requires: a launcher of that name with these parameters."""

    name: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Slice:
    """The kept text, its functions, and (first line, number) of each cell; no cells: a script.

    `findings` are those of the static gate.
    """

    source: str
    cells: tuple[tuple[int, int], ...]
    codes: tuple[Code, ...]
    findings: tuple[Finding, ...]


def seemingly_defined(text: str) -> Iterator[str]:
    """Yield the names that a text, which need not be Python, seems to define."""
    for match in _DEFINITION.finditer(text):
        yield match[1] or match[2]


def _nothing(_text: str) -> bool:
    return False


class Program:
    """All cells that are Python, as one list of statements.

    `given` tests whether a cell's text is the lesson's, unchanged.
    """

    def __init__(self, cells: Sequence[Cell], given: Callable[[str], bool] = _nothing) -> None:
        self._given = given
        self.statements: list[Statement] = []
        self.broken: list[Broken] = []
        self.line_count = 0
        self._postponed = False  # whether annotations are unevaluated from here on
        self._cells: list[tuple[int, int]] = []
        if not any(cell.text.strip() for cell in cells):
            raise refusal(
                "empty",
                "The file is empty",
                "There is no code in it.",
                "Check that you saved the correct file.",
            )
        if sum(len(cell.text) for cell in cells) > CODE_LIMIT:
            raise self._too_much(f"{CODE_LIMIT:,} characters of code")
        for cell in cells:
            self._add(cell)

    @staticmethod
    def _too_much(limit: str) -> SubmissionError:
        return refusal(
            "too-large",
            "There is too much code",
            f"It holds more than {limit}, which no kernel needs.",
            "Hand in the kernel, the launcher and what they need.",
        )

    def _add(self, cell: Cell) -> None:
        first_line = self.line_count + 1
        self._cells.append((first_line, cell.number))
        self.line_count += cell.text.count("\n") + 1
        try:
            tree, text = parsed(cell)
        except SyntaxError as error:
            if cell.number == 0:
                raise self._syntax(Broken(cell, error), first_line) from None
            self.broken.append(Broken(cell, error))
            return
        if len(self.statements) + len(tree.body) > STATEMENT_LIMIT:
            raise self._too_much(f"{STATEMENT_LIMIT:,} statements")
        given = cell.number > 0 and self._given(cell.text)
        self._postponed |= any(is_future(node) for node in tree.body)
        self.statements += statements(
            tree, text, first_line, len(self.statements), given, self._postponed
        )

    def slice(self, launcher: str, parameters: Sequence[str]) -> Slice:
        """Return what the launcher needs; raises SubmissionError."""
        wanted = Wanted(launcher, tuple(parameters))
        try:
            chosen = self._launcher(wanted)
            found = closure(self.statements, chosen)
            self._check_missing(found.missing, wanted)
        except SubmissionError as error:
            raise SubmissionError(self._in_its_cell(error.finding)) from None
        cells = () if [number for _, number in self._cells] == [0] else tuple(self._cells)
        source = sliced(self.statements, found.kept, found.needed, self.line_count)
        kept = [s.node for s in self.statements if s.index in found.kept]
        self._check_size(sum(len(placed(node)) for node in kept))
        codes = tuple(canonical(kept))
        self._check_size(sum(len(code.places) for code in codes))
        found_here = read_gate(ast.Module(kept, []), source, launcher)
        return Slice(source, cells, codes, tuple(found_here))

    def _check_size(self, nodes: int) -> None:
        """Raise a refusal if the tree is too large, because the judge keeps it in memory."""
        if nodes > NODE_LIMIT:
            raise self._too_much(f"{NODE_LIMIT:,} names, numbers and other parts")

    def _launcher(self, exercise: Wanted) -> Statement:
        self._refuse_broken(exercise.name)
        bound = [s for s in self.statements if exercise.name in s.binds]
        defined = [s for s in bound if s.is_function]
        if any(not s.given for s in defined):  # ignore the lesson's own stub
            defined = [s for s in defined if not s.given]
        if not defined:
            made = [s for s in bound if _is_made(s.node)]
            if made:  # by a class, functools.partial or a lambda: calling it shows what it takes
                return made[-1]
            raise self._no_launcher(exercise, bound)
        written = [s for s in defined if not body_is_empty(_function(s))]
        self._refuse_two(exercise.name, written)
        chosen = (written or defined)[-1]
        self._check_signature(exercise, chosen)
        return chosen

    def _no_launcher(self, exercise: Wanted, bound: Sequence[Statement]) -> SubmissionError:
        if bound:
            return refusal(
                "function-missing",
                f"{exercise.name} is not a plain function",
                f"{self._place(bound[-1].line)}: {exercise.name} is bound by something other "
                "than a top-level `def`.",
                f"Write `def {exercise.name}({', '.join(exercise.parameters)}):`.",
                line=bound[-1].line,
            )
        known = [_function(s).name for s in self.statements if s.is_function]
        signature = f"{exercise.name}({', '.join(exercise.parameters)})"
        return missing_launcher(exercise.name, signature, list(dict.fromkeys(known)))

    def _refuse_two(self, name: str, written: Sequence[Statement]) -> None:
        distinct = {ast.dump(s.node): s for s in written}
        if len(distinct) < 2:
            return
        places = " and ".join(self._place(_function(s).lineno) for s in written[-2:])
        raise refusal(
            "defined-twice",
            f"There are two different functions {name}",
            f"{name} is defined in {places}, and the two differ: which one counts?",
            "Keep one of them.",
            line=_function(written[-1]).lineno,
        )

    def _check_signature(self, exercise: Wanted, chosen: Statement) -> None:
        function = _function(chosen)
        if _accepts(function.args, len(exercise.parameters)):
            return
        raise refusal(
            "wrong-signature",
            f"{exercise.name} takes other arguments",
            f"{self._place(function.lineno)}: the exercise calls "
            f"{exercise.name}({', '.join(exercise.parameters)}); yours is "
            f"{exercise.name}({one_line(ast.unparse(function.args))}).",
            "Take exactly these arguments; more are fine when they have defaults.",
            line=function.lineno,
        )

    def _check_missing(self, missing: dict[str, int], exercise: Wanted) -> None:
        if not missing:
            return
        stars = any(is_star_import(s.node) for s in self.statements)
        for name, line in sorted(missing.items(), key=lambda item: item[1]):
            self._refuse_broken(name)
            if stars:
                continue
            guess = self._guess(name, line)
            raise refusal(
                "undefined-name",
                f"{name} is not defined",
                f"{self._place(line)}: {exercise.name} needs {name}, and nothing here defines it. "
                f"{guess}".strip(),
                f"Check the spelling, or define {name} before this line: there, beside the "
                "function, or in another cell.",
                line=line,
            )

    def _guess(self, name: str, line: int) -> str:
        """Return what to write instead of an undefined name; empty if there is no good guess."""
        if name in TRITON_NAMES:
            return f"Triton's functions live in tl: write tl.{name}."
        function = self._function_at(line)
        local = [] if function is None else _local_names(function)
        if function is not None and function.decorator_list:
            instead = behind_pointer(name, {*local}) or instead_in_kernel(name)
        else:
            instead = instead_in_launcher(name)
        known = [*local, *sorted(b for s in self.statements for b in s.binds)]
        return instead or did_you_mean(name, list(dict.fromkeys(known)))

    def _function_at(self, line: int) -> ast.FunctionDef | None:
        """Return the function that contains a line."""
        for statement in self.statements:
            node = statement.node
            if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
                return node
        return None

    def _refuse_broken(self, name: str) -> None:
        """Raise the syntax error of the cell that should define `name`."""
        broken = self._meant.get(name)
        if broken is not None:
            first = next(line for line, number in self._cells if number == broken.cell.number)
            raise self._syntax(broken, first)

    @cached_property
    def _meant(self) -> dict[str, Broken]:
        """Return the names that the broken cells seem to define."""
        found: dict[str, Broken] = {}
        for broken in self.broken:
            for name in seemingly_defined(broken.cell.text):
                found.setdefault(name, broken)
        return found

    def _syntax(self, broken: Broken, first_line: int) -> SubmissionError:
        line = broken.error.lineno or 1
        place = f"line {line}"
        if broken.cell.number:
            place = f"cell {broken.cell.number}, {place}"
        return syntax_refusal(broken.error, place, first_line + line - 1)

    def _in_its_cell(self, told: Finding) -> Finding:
        """Return the refusal with its line counted from the top of its cell, if there are cells."""
        if told.line is None or [number for _, number in self._cells] == [0]:
            return told
        position = max(0, bisect.bisect_right(self._cells, (told.line, 10**9)) - 1)
        first, number = self._cells[position]
        return replace(told, where=f"cell {number}", line=told.line - first + 1)

    def _place(self, line: int) -> str:
        position = max(0, bisect.bisect_right(self._cells, (line, 10**9)) - 1)
        first, number = self._cells[position]
        return f"cell {number}, line {line - first + 1}" if number else f"line {line}"


def _local_names(function: ast.FunctionDef) -> list[str]:
    """Return the parameters and variables of a function."""
    named = [part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)]
    stored = (n for n in ast.walk(function) if isinstance(n, ast.Name))
    return named + [n.id for n in stored if isinstance(n.ctx, ast.Store)]


def _function(statement: Statement) -> ast.FunctionDef:
    assert isinstance(statement.node, ast.FunctionDef)
    return statement.node


def _is_made(node: ast.stmt) -> bool:
    """Whether a statement assigns what an expression makes, which may be a function."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    return isinstance(value, ast.Call | ast.Lambda | ast.Attribute)


def _accepts(args: ast.arguments, count: int) -> bool:
    """Whether the function can be called with `count` positional arguments."""
    named = len(args.posonlyargs) + len(args.args)
    required = named - len(args.defaults)
    keywords_needed = any(default is None for default in args.kw_defaults)
    enough = count <= named or args.vararg is not None
    return required <= count and enough and not keywords_needed
