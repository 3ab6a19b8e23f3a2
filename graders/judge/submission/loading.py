"""From a file to what the judge runs: the launcher and all that it needs, found by name.

Nothing else of the submission is kept, so no other cell and no test code ever runs.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graders.judge.records import Exercise
from graders.judge.report import Finding
from graders.judge.submission.files import (
    Broken,
    Cell,
    normalised,
    notebook_cells,
    parsed,
    read_cells,
)
from graders.judge.submission.refusals import (
    SubmissionError,
    did_you_mean,
    missing_launcher,
    refusal,
    syntax_refusal,
)
from graders.judge.submission.slices import (
    Statement,
    body_is_empty,
    closure,
    is_star_import,
    sliced,
    statements,
)

__all__ = ["Submission", "SubmissionError", "defined_functions", "from_text", "load"]

_DEFINITION = re.compile(r"^\s*(?:def\s+(\w+)\s*\(|(\w+)\s*=[^=])", re.MULTILINE)


CODE_LIMIT = 1_000_000  # characters: parsing takes a thousand times their memory
STATEMENT_LIMIT = 10_000  # at the top level


@dataclass(frozen=True)
class Submission:
    """A launcher and its dependencies as Python text.

    `source` holds only what the launcher needs, every kept line at its own line number
    (of the script, or of all code cells of the notebook one after another). `cells` holds
    (first line, cell number) for a notebook and is empty for a script.
    """

    name: str
    source: str
    launcher: str
    cells: tuple[tuple[int, int], ...] = ()

    def locate(self, line: int | None) -> tuple[str, int | None]:
        """Where a line of `source` stands: ("cell 7", 3), or ("line", 12) in a script."""
        if line is None:
            return "", None
        if not self.cells:
            return "line", line
        position = max(0, bisect.bisect_right(self.cells, (line, 10**9)) - 1)
        first, number = self.cells[position]
        return f"cell {number}", line - first + 1


def load(path: Path, exercise: Exercise) -> Submission:
    """The submission in a `.py` file or a notebook; raises SubmissionError."""
    return _SubmittedProgram(str(path), read_cells(path)).submission(exercise)


def from_text(text: str, exercise: Exercise, name: str = "<text>") -> Submission:
    """The submission in a Python text (or, under a name that ends so, in a notebook's JSON)."""
    if name.endswith(".ipynb") and text.lstrip().startswith("{"):
        return _SubmittedProgram(name, notebook_cells(text.encode())).submission(exercise)
    return _SubmittedProgram(name, [Cell(0, normalised(text))]).submission(exercise)


def defined_functions(path: Path) -> set[str] | None:
    """The names that a file defines or seems to define; None where it cannot be read.

    Text is enough here: a cell with a syntax error still says what it was meant to define.
    """
    try:
        cells = read_cells(path)
    except SubmissionError:
        return None
    found = (match for cell in cells for match in _DEFINITION.finditer(cell.text))
    return {match[1] or match[2] for match in found}


class _SubmittedProgram:
    """All cells that are Python, as one list of statements."""

    def __init__(self, name: str, cells: Sequence[Cell]) -> None:
        self.name = name
        self.statements: list[Statement] = []
        self.broken: list[Broken] = []
        self.line_count = 0
        self._cells: list[tuple[int, int]] = []
        if not any(cell.text.strip() for cell in cells):
            raise refusal(
                "empty",
                "The file is empty",
                "There is no code in it.",
                "Check that the right file was saved.",
            )
        if sum(len(cell.text) for cell in cells) > CODE_LIMIT:
            raise self._too_much(f"{CODE_LIMIT:,} characters of code")
        for cell in cells:
            self._add(cell)
            if len(self.statements) > STATEMENT_LIMIT:
                raise self._too_much(f"{STATEMENT_LIMIT:,} statements")

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
        self.statements += statements(tree, text, first_line, len(self.statements))

    def submission(self, exercise: Exercise) -> Submission:
        """Slice out what the exercise's launcher needs; raises SubmissionError."""
        try:
            launcher = self._launcher(exercise)
            found = closure(self.statements, launcher)
            self._check_missing(found.missing, exercise)
        except SubmissionError as error:
            raise SubmissionError(self._in_its_cell(error.finding)) from None
        cells = () if [number for _, number in self._cells] == [0] else tuple(self._cells)
        source = sliced(self.statements, found.kept, found.needed, self.line_count)
        return Submission(self.name, source, exercise.name, cells)

    def _launcher(self, exercise: Exercise) -> Statement:
        self._refuse_broken(exercise.name)
        bound = [s for s in self.statements if exercise.name in s.binds]
        defined = [s for s in bound if s.is_function]
        if not defined:
            raise self._no_launcher(exercise, bound)
        written = [s for s in defined if not body_is_empty(_function(s))]
        self._refuse_two(exercise.name, written)
        chosen = (written or defined)[-1]
        self._check_signature(exercise, chosen)
        return chosen

    def _no_launcher(self, exercise: Exercise, bound: Sequence[Statement]) -> SubmissionError:
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

    def _check_signature(self, exercise: Exercise, chosen: Statement) -> None:
        function = _function(chosen)
        if _accepts(function.args, len(exercise.parameters)):
            return
        raise refusal(
            "wrong-signature",
            f"{exercise.name} takes other arguments",
            f"{self._place(function.lineno)}: the exercise calls "
            f"{exercise.name}({', '.join(exercise.parameters)}); yours is "
            f"{exercise.name}({ast.unparse(function.args)}).",
            "Take exactly these arguments; more are fine when they have defaults.",
            line=function.lineno,
        )

    def _check_missing(self, missing: dict[str, int], exercise: Exercise) -> None:
        for name, line in sorted(missing.items(), key=lambda item: item[1]):
            self._refuse_broken(name)
            if any(is_star_import(s.node) for s in self.statements):
                continue
            known = sorted({bound for s in self.statements for bound in s.binds})
            raise refusal(
                "undefined-name",
                f"{name} is not defined",
                f"{self._place(line)}: {exercise.name} needs {name}, and nothing here defines it. "
                f"{did_you_mean(name, known)}".strip(),
                f"Define {name} before this line: there, beside the function, or in another cell.",
                line=line,
            )

    def _refuse_broken(self, name: str) -> None:
        """Report the syntax error of the cell in which `name` was meant to be defined."""
        definition = re.compile(rf"^\s*(def\s+{re.escape(name)}\b|{re.escape(name)}\s*=[^=])", re.M)
        for broken in self.broken:
            if definition.search(broken.cell.text):
                first = next(line for line, number in self._cells if number == broken.cell.number)
                raise self._syntax(broken, first)

    def _syntax(self, broken: Broken, first_line: int) -> SubmissionError:
        line = broken.error.lineno or 1
        place = f"line {line}"
        if broken.cell.number:
            place = f"cell {broken.cell.number}, {place}"
        return syntax_refusal(broken.error, place, first_line + line - 1)

    def _in_its_cell(self, finding: Finding) -> Finding:
        """The finding with its line counted from the top of its cell, where there are cells."""
        if finding.line is None or [number for _, number in self._cells] == [0]:
            return finding
        position = max(0, bisect.bisect_right(self._cells, (finding.line, 10**9)) - 1)
        first, number = self._cells[position]
        return replace(finding, where=f"cell {number}", line=finding.line - first + 1)

    def _place(self, line: int) -> str:
        position = max(0, bisect.bisect_right(self._cells, (line, 10**9)) - 1)
        first, number = self._cells[position]
        return f"cell {number}, line {line - first + 1}" if number else f"line {line}"


def _function(statement: Statement) -> ast.FunctionDef:
    assert isinstance(statement.node, ast.FunctionDef)
    return statement.node


def _accepts(args: ast.arguments, count: int) -> bool:
    """Whether the function can be called with `count` positional arguments."""
    named = len(args.posonlyargs) + len(args.args)
    required = named - len(args.defaults)
    keywords_needed = any(default is None for default in args.kw_defaults)
    enough = count <= named or args.vararg is not None
    return required <= count and enough and not keywords_needed
