"""Only what the learner wrote is judged: every right kernel in the built notebook of its lesson,
its kernel under names that the lesson itself binds.

Some 1,000 notebooks, in which each name of each lesson occurs; tests/support/drawn.py says which
of them a run reads. `make nightly` gives every kernel every name: some 12,000 notebooks, a quarter
of an hour.
"""

from __future__ import annotations

import ast
import io
import itertools
import json
import linecache
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from graders.authoring.course import lesson_cells_file
from graders.authoring.lesson import read_lesson
from graders.authoring.rooms import Rooms, find_root, slug_of
from graders.grading.judging import bare_notebook
from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise
from graders.judge.submission.given_cells import fingerprints, given_in
from graders.judge.submission.operations import OPERATIONS
from graders.judge.submission.python_text import Cell, parsed
from graders.judge.submission.slices import statements
from tests.support import drawn
from triton_util.notebook.session import Cell as RunCell
from triton_util.notebook.session import Session
from triton_util.notebook.source import gather
from triton_util.report import Verdict

ROOMS = Rooms(find_root(Path(__file__)))
LESSONS = {slug_of(path) for path in ROOMS.lesson_files()}
# The exercises that a lesson has a cell for; the one of the tour is solved in the tour itself.
ASKED = {name for path in ROOMS.lesson_files() for name in read_lesson(path).names("exercise")}
KERNELS = [
    path
    for path in sorted((ROOMS.root / "tests/course").glob("*/*/correct/*.py"))
    if path.parent.parent.name in ASKED
]
NAMES_EACH = 4  # at least; the kernels of a lesson together are given all of its names
EVERY_NAME = drawn.mode() == "nightly"


@cache
def lesson_of(exercise: str) -> Exercise:
    return discovery.exercise(exercise)


@cache
def code_cells(lesson: str) -> tuple[tuple[str, str], ...]:
    """(id, text) of the code cells of a lesson as learners get it."""
    path = ROOMS.lesson_file(lesson).with_suffix(".ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return tuple((c["id"], "".join(c["source"])) for c in cells if c["cell_type"] == "code")


@cache
def names_of(lesson: str) -> tuple[str, ...]:
    """The names that the lesson's own cells bind."""
    found: set[str] = set()
    for _, text in code_cells(lesson):
        for statement in statements(*parsed(Cell(1, text)), 1, 0):
            found |= statement.binds
    return tuple(sorted(found))


def words_of(text: str) -> set[str]:
    return {t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == 1}


def kernel_in(text: str, launcher: str) -> str | None:
    """The name of the first kernel that is a plain `def` in the file."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name != launcher and node.decorator_list:
            return node.name
    return None


def renamed(text: str, old: str, new: str) -> str:
    """The text with one name exchanged, and nothing else."""
    lines = text.split("\n")
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for token in reversed([t for t in tokens if t.type == tokenize.NAME and t.string == old]):
        row, column = token.start
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[token.end[1] :]
    return "\n".join(lines)


def notebook_with(exercise: Exercise, text: str) -> list[str]:
    """The code cells of the lesson's notebook with this answer."""
    return [
        text if cell == exercise.name else source for cell, source in code_cells(exercise.lesson)
    ]


def slice_of(data: bytes, exercise: Exercise, is_notebook: bool) -> list[str]:
    request: dict[str, Any] = {
        "launcher": exercise.name,
        "parameters": exercise.parameters,
        "lesson": exercise.lesson,
        "notebook": is_notebook,
        "encoded": True,
    }
    source = OPERATIONS["slice"](data, request)["source"]
    return [line for line in source.split("\n") if line.strip()]


def program(text: str, exercise: Exercise) -> list[str]:
    """What the judge reads of a text, in an order that says nothing; imports left away.

    A session tells definitions in the order in which they are needed, and of a constant its
    present value, with the whole name of the type; each constant in a line of its own. It does
    not tell `@operator.register_fake`, which only torch.compile calls.
    """
    tree = ast.parse("\n".join(slice_of(text.encode(), exercise, False)))
    kept = (node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom))
    told = (ast.unparse(one) for node in kept for one in one_by_one(node))
    there = (line for line in told if ".register_fake\n" not in line)
    return sorted(line.replace("triton.language.", "tl.") for line in there)


def one_by_one(node: ast.stmt) -> Iterator[ast.stmt]:
    """A statement; of numbers that are set together, or with a Python type, each alone."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            for name, value in zip(names, values, strict=True):
                yield ast.copy_location(ast.Assign([name], value), node)
        case ast.AnnAssign(target=name, value=ast.expr() as value) if (
            ast.unparse(node.annotation) == "int"
        ):
            yield ast.copy_location(ast.Assign([name], value), node)
        case ast.Assign(value=ast.IfExp() as value):  # without a GPU
            yield ast.copy_location(ast.Assign(node.targets, value.orelse), node)
        case _:
            yield node


def new_names() -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    """Each right kernel, the name of its kernel, and the names that it is to have."""
    for lesson, kernels in kernels_by_lesson().items():
        names = names_of(lesson)
        each = len(names) if EVERY_NAME else max(NAMES_EACH, 2 + len(names) // len(kernels))
        given: Counter[str] = Counter()
        fits = Counter(name for path in kernels for name in free_names(path))
        for path, old in kernels.items():
            free = sorted(free_names(path), key=lambda name: (given[name], fits[name], name))
            given.update(free[:each])
            yield path, old, tuple(free[:each])


def kernels_by_lesson() -> dict[str, dict[Path, str]]:
    """By lesson the right kernels that can be renamed, and what their kernels are called."""
    found: dict[str, dict[Path, str]] = {}
    for path in KERNELS:
        exercise = lesson_of(path.parent.parent.name)
        old = kernel_in(path.read_text(encoding="utf-8"), exercise.name)
        if old is not None:
            found.setdefault(exercise.lesson, {})[path] = old
    return found


def free_names(path: Path) -> set[str]:
    """The names that the lesson binds and the file does not use for something else."""
    lesson = lesson_of(path.parent.parent.name).lesson
    return set(names_of(lesson)) - words_of(path.read_text(encoding="utf-8"))


CASES = {
    f"{lesson_of(path.parent.parent.name).lesson}/{path.parent.parent.name}/{path.stem}": (
        path,
        old,
        names,
    )
    for path, old, names in new_names()
}


def test_what_the_judge_knows_is_what_the_lessons_hold() -> None:
    built = lesson_cells_file(ROOMS)
    assert built.path.read_text() == built.text, "run `tilewise build` and commit it"
    assert set(fingerprints()) == LESSONS


def test_there_are_enough_of_them() -> None:
    assert sum(len(names) for _, _, names in CASES.values()) > 500
    given = {path: names for path, _, names in CASES.values()}
    for kernels in kernels_by_lesson().values():
        possible = set().union(*map(free_names, kernels))
        assert set().union(*(given[path] for path in kernels)) == possible


@pytest.mark.parametrize(("path", "old", "names"), CASES.values(), ids=CASES)
def test_a_kernel_may_have_any_name_of_the_lesson(
    path: Path, old: str, names: tuple[str, ...]
) -> None:
    exercise = lesson_of(path.parent.parent.name)
    text = path.read_text(encoding="utf-8")
    for name in names:
        own = renamed(text, old, name)
        cells = notebook_with(exercise, own)
        inside = slice_of(json.dumps(bare_notebook(cells)).encode(), exercise, True)
        alone = slice_of(own.encode(), exercise, False)
        assert inside == alone, f"{path.stem}: the kernel called {name}"


def test_the_lesson_gives_what_the_learner_does_not_write() -> None:
    exercise = discovery.exercise("vector_add")
    given = given_in(exercise.lesson)
    assert all(given(text) for _, text in code_cells(exercise.lesson))
    answer = (
        "@triton.jit\ndef k(x):\n    tl.store(x, 1)\n\n\ndef vector_add(x, y):\n    k[(1,)](x)\n"
    )
    cells = notebook_with(exercise, answer)
    found = slice_of(json.dumps(bare_notebook(cells)).encode(), exercise, True)
    assert found[:2] == ["import triton", "import triton.language as tl"]


def test_a_cell_that_the_learner_changed_is_the_learners() -> None:
    exercise = discovery.exercise("vector_add")
    answer = "def vector_add(x, y):\n    return helper(x)\n"
    cells = [*notebook_with(exercise, answer), "def helper(x):\n    return x"]
    found = slice_of(json.dumps(bare_notebook(cells)).encode(), exercise, True)
    assert "def helper(x):" in found


@pytest.mark.parametrize(
    "path", KERNELS[::12], ids=lambda path: f"{path.parent.parent.name}-{path.stem}"
)
def test_a_check_in_the_session_reads_the_same(path: Path) -> None:
    """The kernel has a name that a later cell of the lesson has bound to something else."""
    exercise = lesson_of(path.parent.parent.name)
    text = path.read_text(encoding="utf-8")
    old = kernel_in(text, exercise.name)
    later = list(itertools.dropwhile(lambda c: c[0] != exercise.name, code_cells(exercise.lesson)))
    bound = {
        name: source
        for _, source in later[1:]
        for statement in statements(*parsed(Cell(1, source)), 1, 0)
        for name in statement.binds - words_of(text)
    }
    if old is None or not bound:
        pytest.skip("the lesson binds nothing behind this exercise")
    name = sorted(bound)[0]
    own = renamed(text, old, name)
    filename = f"<{path.stem}>"
    linecache.cache[filename] = (len(own), None, own.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(own, filename, "exec"), namespace)
    launcher = namespace[exercise.name]
    namespace[name] = "what the lesson made of it"
    cells = (RunCell("cell [1]", own, filename), RunCell("cell [2]", bound[name]))
    found = gather(
        exercise.name, launcher, Session(namespace, cells), fingerprints()[exercise.lesson]
    )
    assert f"def {name}(" in found.text
    assert "what the lesson made" not in found.text
    assert program(found.text, exercise) == program(own, exercise)


@pytest.mark.parametrize("name", ["add", "result"])
def test_one_notebook_has_one_verdict(name: str, tmp_path: Path) -> None:
    exercise = discovery.exercise("vector_add")
    path = ROOMS.kernels("vector_add") / "correct" / "imported_by_name.py"
    text = path.read_text(encoding="utf-8")
    answer = renamed(text, "add", name)
    work = tmp_path / "work.ipynb"
    work.write_text(json.dumps(bare_notebook(notebook_with(exercise, answer))))
    with Judge() as judge:
        report = judge.judge(work, exercise)
    assert (report.verdict, report.points) == (Verdict.PASSED, 10)
