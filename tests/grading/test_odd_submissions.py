"""Odd submissions that real students hand in: none of them is a silent zero."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI

from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report
from graders.grading.course_config import load_config
from graders.grading.intake.elsewhere import note_unread
from graders.grading.intake.submissions import take
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, fake_marks

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
KERNEL = "def vector_add(x, y):\n    return right"
ANSWER = "Because its rows are further apart than they are wide."
NAME = f"{ASSIGNMENT}.ipynb"
HOW = ("tilewise", "nbgrader")


class FakeMarker:
    """The judge of `nbgrader autograde`, with the marks of the other command."""

    def mark(self, path: Path, exercise: str, earlier: object = None) -> object:
        cells = json.loads(path.read_text())["cells"]
        return fake_marks("\n".join(cell["source"] for cell in cells))


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    shutil.copytree(template.folder, tmp_path / "course")
    monkeypatch.setattr(judging, "warm_marker", FakeMarker)
    return SmallCourse(tmp_path / "course", template.released)


def grade(course: SmallCourse, how: str = "tilewise") -> dict[str, tuple[float | None, str, bool]]:
    """The score, its state and whether a person is asked for the written answer, by student."""
    grader = Autograder(course.folder, ASSIGNMENT)
    if how == "tilewise":
        list(grader.grade(grader.students(), FakeJudging()))
    else:
        NbGraderAPI(config=load_config(course.folder, None)).autograde(ASSIGNMENT, "*", force=True)
    return {
        student.name: (
            None if "vector_add-public" in student.open else student.points("vector_add"),
            str(student.account.state),
            "contiguity" in student.open,
        )
        for student in class_report(course.folder, ASSIGNMENT).students
    }


def place(course: SmallCourse, student: str, files: dict[str, bytes]) -> Path:
    folder = course.folder / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def untouched(course: SmallCourse) -> bytes:
    return course.released.read_bytes()


# ------------------------------------------------------------ the work is in another file


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("other", ["final.ipynb", f"{ASSIGNMENT}-Copy1.ipynb", "add.py", "all.zip"])
def test_an_untouched_notebook_beside_other_work_is_open(
    course: SmallCourse, other: str, how: str
) -> None:
    place(course, "ada", {NAME: untouched(course), other: b"{}"})
    assert grade(course, how)["ada"] == (None, "open", True)
    if how == "tilewise":
        (ada,) = class_report(course.folder, ASSIGNMENT).students
        assert f"'{other}' was handed in, too" in ada.reason


def test_other_files_matter_only_if_an_answer_may_be_in_them(course: SmallCourse) -> None:
    (course.folder / "source" / ASSIGNMENT / "helpers.py").write_text("")
    place(course, "jean", {NAME: untouched(course), "helpers.py": b"", "data.csv": b""})
    course.hand_in("kurt", "right = 1")
    place(course, "kurt", {"final.ipynb": b"{}"})
    assert grade(course) == {"jean": (0.0, "graded", False), "kurt": (10.0, "open", True)}


def test_an_import_remembers_the_files_that_do_not_count(
    course: SmallCourse, tmp_path: Path
) -> None:
    folder = tmp_path / "day" / "ada"
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(untouched(course))
    (folder / "add.py").write_text(KERNEL)
    taken = take(tmp_path / "day", course.folder / "submitted", ASSIGNMENT)
    note_unread(course.folder, ASSIGNMENT, taken.unread)
    assert grade(course)["ada"] == (None, "open", True)
    note_unread(course.folder, ASSIGNMENT, {"ada": []})
    assert grade(course)["ada"] == (0.0, "graded", False)


# ------------------------------------------------------------ it is another notebook


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("texts", [(), ("",), ("def matmul(a, b):\n    return right",)])
def test_a_notebook_of_something_else_is_open(
    course: SmallCourse, texts: tuple[str, ...], how: str
) -> None:
    cells = [nbformat.v4.new_code_cell(text) for text in texts]
    data = json.dumps(nbformat.v4.new_notebook(cells=cells)).encode()
    place(course, "ada", {NAME: data})
    assert grade(course, how)["ada"] == (None, "open", True)


@pytest.mark.parametrize(
    "data",
    [KERNEL.encode("utf-16"), b"\xef\xbb\xbf" + KERNEL.encode(), "# Jürgen\n".encode("latin-1")
     + KERNEL.encode()],
)  # fmt: skip
def test_a_script_counts_in_any_encoding(course: SmallCourse, data: bytes) -> None:
    place(course, "ada", {"add.py": data})
    assert grade(course)["ada"] == (10.0, "graded", False)


def test_a_notebook_that_is_called_a_script_is_one(course: SmallCourse) -> None:
    path = course.hand_in("ada", KERNEL)
    path.rename(path.with_name("add.py"))
    assert grade(course)["ada"] == (10.0, "graded", False)


# ------------------------------------------------------------ the work is in another cell


def appended(cell: Any) -> Callable[[Any], None]:
    return lambda notebook: notebook.cells.append(cell)


def pressed_m(notebook: Any) -> None:
    """The cell of the exercise became a text cell, with its code in a block."""
    index = next(i for i, cell in enumerate(notebook.cells) if cell.id == "vector_add")
    old = notebook.cells[index]
    notebook.cells[index] = nbformat.v4.new_markdown_cell(
        f"```python\n{KERNEL}\n```", metadata=old.metadata, id=old.id
    )


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    "change",
    [
        appended(nbformat.v4.new_raw_cell(KERNEL)),
        appended(nbformat.v4.new_markdown_cell(f"```\n{KERNEL}\n```")),
        pressed_m,
    ],
)
def test_a_kernel_in_a_text_cell_counts(
    course: SmallCourse, change: Callable[[Any], None], how: str
) -> None:
    stub = next(c for c in nbformat.read(course.released, 4).cells if c.id == "vector_add").source
    course.hand_in("ada", stub, change)
    assert grade(course, how)["ada"][0] == 10.0


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    ("code", "asked"),
    [
        (f"{KERNEL}\n# {ANSWER}\n", True),
        (f'{KERNEL}\n"""{ANSWER}"""\n', True),
        (f"{KERNEL}\n# 因为各行之间的距离大于行宽。\n", True),
        (f'"""A kernel that adds two vectors of any length."""\n{KERNEL}', False),
        (f"# A kernel that adds two vectors of any length.\n{KERNEL}  # all of the elements of x",
         False),
    ],
)  # fmt: skip
def test_an_answer_in_the_exercises_own_cell_goes_to_a_person(
    course: SmallCourse, code: str, asked: bool, how: str
) -> None:
    course.hand_in("ada", code)
    assert grade(course, how)["ada"] == (10.0, "open" if asked else "graded", asked)


# ------------------------------------------------------------ both commands, with a byte order mark


@pytest.mark.parametrize("code", ["right = 1", "wrong = 1"])
def test_both_commands_give_the_same_marks_with_a_byte_order_mark(
    course: SmallCourse, code: str
) -> None:
    path = course.hand_in("ada", code)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert grade(course, "nbgrader") == grade(course) == grade(course, "nbgrader")
    assert grade(course)["ada"] == (10.0 if "right" in code else 0.0, "graded", False)
