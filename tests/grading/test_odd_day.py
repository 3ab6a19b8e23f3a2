"""A day on which each student of a class hands in something odd: no silent zero, one total."""

from __future__ import annotations

import ast
import csv
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI

from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import ClassReport, class_report
from graders.grading.course_config import load_config
from graders.grading.intake.elsewhere import note_unread
from graders.grading.intake.submissions import Taken, take
from graders.grading.marks import Marks, marks
from graders.grading.parallel import Judged, Task
from graders.grading.report.tables import as_json, write_csv
from tests.support.odd_day import Day, Odd
from tests.support.own_assignment import page
from tests.support.small_course import ASSIGNMENT, EXERCISE, SmallCourse
from triton_util.report import Finding, GateStatus, Report, Verdict

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
KERNEL = '''\
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements)
    tl.store(out_ptr + offsets, x, mask=offsets < n_elements)


def vector_add(x, y):
    """Return x + y."""
    out = torch.empty_like(x)
    add_kernel[(1,)](x, y, out, out.numel(), BLOCK_SIZE=1024)
    return out
'''
NOT_FOUND_YET = {  # students whose zero is known and described in docs/teach.md
    "answer-in-docstring": "remarks in a kernel are about the kernel",
    "answer-in-output": "grading reads no outputs",
}
SCRIPTS = ("jupytext", "nbconvert", "only-a-script")


class JudgeOfPlaces:
    """Finds the launcher as the judge does, and takes every launcher with a body as correct."""

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        for task in tasks:
            yield task, found_in(task.code)

    def mark(self, path: Path, exercise: str, earlier: object = None) -> Marks:
        return found_in([cell["source"] for cell in json.loads(path.read_text())["cells"]])


def found_in(code: Iterable[str]) -> Marks:
    written, empty, known = set(), False, False
    for text in code:
        lines = text.removeprefix("%%time\n").splitlines()
        plain = "\n".join(line for line in lines if not line.startswith(("!", "%")))
        try:
            body = [] if text.startswith("%%writefile") else ast.parse(plain).body
        except SyntaxError:
            continue
        known |= "import triton\n" in plain
        for one in body:
            if isinstance(one, ast.FunctionDef) and one.name == EXERCISE.name:
                is_stub = isinstance(one.body[-1], ast.Pass)
                empty |= is_stub
                written |= set() if is_stub or not known else {ast.dump(one)}
    if len(written) == 1:
        return judged_as("", full=True)
    missing = "stub-unchanged" if empty else "function-missing"
    return judged_as("defined-twice" if written else missing if known else "undefined-name")


def judged_as(code: str, full: bool = False) -> Marks:
    points = EXERCISE.max_points if full else 0
    finding = Finding("read", code, "A title", "What happened.", line=1, next_step="A step.")
    gates = dict.fromkeys(("read", "interpret"), GateStatus.PASSED)
    report = Report(
        "x", EXERCISE.name, Verdict.PASSED if full else Verdict.FAILED, points,
        EXERCISE.max_points, gates, () if full else (finding,), "A", 0.1, public_points=points,
    )  # fmt: skip
    return marks(EXERCISE, report)


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    shutil.copytree(template.folder, tmp_path / "course")
    monkeypatch.setattr(judging, "warm_marker", JudgeOfPlaces)
    return SmallCourse(tmp_path / "course", template.released)


def hand_in(course: SmallCourse, day: Path, files: dict[str, dict[str, bytes]]) -> Taken:
    """Import what the students handed in, as `tilewise autograde --from` does."""
    shutil.rmtree(day, ignore_errors=True)
    for student, own in files.items():
        (day / student).mkdir(parents=True)
        for name, data in own.items():
            (day / student / name).write_bytes(data)
    taken = take(day, course.folder / "submitted", ASSIGNMENT)
    unread = {found.student: taken.unread.get(found.student, []) for found in taken.found}
    note_unread(course.folder, ASSIGNMENT, unread)
    return taken


def grade(course: SmallCourse, how: str = "tilewise") -> ClassReport:
    if how == "tilewise":
        grader = Autograder(course.folder, ASSIGNMENT)
        list(grader.grade(grader.students(), JudgeOfPlaces()))
    else:
        NbGraderAPI(config=load_config(course.folder, None)).autograde(ASSIGNMENT, "*", force=True)
    return class_report(course.folder, ASSIGNMENT)


def results(report: ClassReport) -> dict[str, tuple[str, str]]:
    """How each student's kernel and written answer ended, in the words of `Odd`."""
    return {
        student.name: (
            "open" if (points := student.points("vector_add")) is None else f"{points:g}",
            "asked" if "contiguity" in student.open else "0",
        )
        for student in report.students
    }


@pytest.mark.parametrize("how", ["tilewise", "nbgrader"])
def test_no_odd_submission_is_a_silent_zero(course: SmallCourse, tmp_path: Path, how: str) -> None:
    odd = Day(course.released.read_text(), ASSIGNMENT, KERNEL).all()
    taken = hand_in(course, tmp_path / "day", {name: one.files for name, one in odd.items()})
    report = grade(course, how)
    found = results(report)
    named = {left.path.split("/")[0] for left in taken.left_out}
    if how == "nbgrader":  # it reads notebooks only
        odd = {name: one for name, one in odd.items() if name not in SCRIPTS}
    ended = {name: found.get(name, ("out", "out")) for name in odd if name not in NOT_FOUND_YET}
    untrue = {n: end for n, end in ended.items() if not is_true(odd[n], *end, n in named)}
    assert untrue == {}
    for student in report.students:
        if "vector_add-public" in student.open and how == "tilewise":
            assert student.reason, student.name
    one_total(course, report, tmp_path)


def is_true(one: Odd, kernel: str, text: str, named: bool) -> bool:
    return kernel in one.kernel and text in one.text and (kernel != "out" or named)


def one_total(course: SmallCourse, report: ClassReport, folder: Path) -> None:
    """Check that the table, the JSON and each feedback page have the account's total."""
    write_csv(report, folder / "report.csv")
    with open(folder / "report.csv", encoding="utf-8") as file:
        table = {row["student"]: row["score"] for row in csv.DictReader(file)}
    data = {line["student"]: line["score"] for line in as_json(report)["students"]}
    for student in report.students:
        score = student.account.score
        assert table[student.name] == ("" if score is None else f"{score:g}")
        assert data[student.name] == score


# ------------------------------------------------------------ which hand-in counts


def handed_in(course: SmallCourse, code: str) -> dict[str, bytes]:
    day = Day(course.released.read_text(), ASSIGNMENT, code)
    return day.one(answer=False)


WRONG = "def vector_add(x, y):\n    pass"
WHEN = "2026-11-20 12:00:00 UTC"


@pytest.mark.parametrize("how", ["tilewise", "nbgrader"])
@pytest.mark.parametrize("damage", [lambda data: data[:3000], lambda data: b""])
def test_a_damaged_resubmission_keeps_the_grade_and_says_so(
    course: SmallCourse, tmp_path: Path, how: str, damage: Callable[[bytes], bytes]
) -> None:
    work = handed_in(course, KERNEL)
    hand_in(course, tmp_path / "day", {"ada": work})
    (ada,) = grade(course, how).students
    assert (ada.score, ada.account.remark) == (10.0, "")
    broken = {name: damage(data) for name, data in work.items()}
    hand_in(course, tmp_path / "day", {"ada": broken})
    report = grade(course, how)
    (ada,) = report.students
    assert ada.score == 10.0
    assert "The last file is not graded" in ada.account.remark
    assert "damaged" in ada.account.remark
    one_total(course, report, tmp_path)
    if how == "tilewise":
        assert "The last file is not graded" in page(course, "ada", ASSIGNMENT)
    hand_in(course, tmp_path / "day", {"ada": work})
    assert grade(course, how).students[0].account.remark == ""


def test_an_old_import_does_not_replace_a_newer_hand_in(
    course: SmallCourse, tmp_path: Path
) -> None:
    folder = course.folder / "submitted" / "ada" / ASSIGNMENT
    folder.mkdir(parents=True)
    newer = handed_in(course, KERNEL)[f"{ASSIGNMENT}.ipynb"]
    (folder / f"{ASSIGNMENT}.ipynb").write_bytes(newer)
    (folder / "timestamp.txt").write_text(WHEN)
    (tmp_path / "day" / "ada").mkdir(parents=True)
    older = tmp_path / "day" / "ada" / f"{ASSIGNMENT}.ipynb"
    older.write_bytes(handed_in(course, WRONG)[older.name])
    day = datetime(2026, 11, 10, tzinfo=UTC).timestamp()
    os.utime(older, (day, day))
    taken = take(tmp_path / "day", course.folder / "submitted", ASSIGNMENT)
    assert "is older than the hand-in of 2026-11-20 12:00 UTC" in taken.left_out[0].why
    assert not taken.found
    assert (folder / f"{ASSIGNMENT}.ipynb").read_bytes() == newer
    later = datetime(2026, 11, 21, tzinfo=UTC).timestamp()
    os.utime(older, (later, later))
    assert take(tmp_path / "day", course.folder / "submitted", ASSIGNMENT).replaced == ("ada",)


@pytest.mark.parametrize("timed", [True, False])
def test_a_team_with_two_works_is_told_which_one_counts(
    course: SmallCourse, tmp_path: Path, timed: bool
) -> None:
    (course.folder / "teams.csv").write_text("student,team\nada,red\nkurt,red\njean,blue\n")
    works = {"ada": handed_in(course, KERNEL), "kurt": handed_in(course, WRONG)}
    hand_in(course, tmp_path / "day", {**works, "jean": works["ada"]})
    for student, hour in (("ada", "13"), ("kurt", "12")) if timed else ():
        place = course.folder / "submitted" / student / ASSIGNMENT / "timestamp.txt"
        place.write_text(WHEN.replace("12:", f"{hour}:"))
    report = grade(course)
    counts, other = ("ada", "kurt") if timed else ("kurt", "ada")
    why = "the last one" if timed else "because the times are not all known"
    said = f"The work of {counts} counts, {why}; not that of {other}."
    for student in report.students:
        assert (said in student.account.remark) == (student.name in works)
        if student.name in works:
            assert said in page(course, student.name, ASSIGNMENT)
    one_total(course, report, tmp_path)
