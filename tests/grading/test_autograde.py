"""`tilewise autograde` on a small course: what is graded, kept, skipped and never a zero."""

import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from graders.grading import judging
from graders.grading.autograde import Autograder, GradedStudent
from graders.grading.intake.submissions import take
from graders.grading.parallel import Judged, Task
from graders.judge.records import GraderError
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    folder = tmp_path / "course"
    shutil.copytree(template.folder, folder)
    monkeypatch.setattr(judging, "warm_marker", no_judge)
    return SmallCourse(folder, template.released)


def no_judge() -> None:
    raise AssertionError("nbgrader's process asked a judge of its own")


def grade(
    course: SmallCourse, fake: FakeJudging, *only: str, force: bool = False
) -> dict[str, GradedStudent]:
    grader = Autograder(course.folder, ASSIGNMENT)
    results = list(grader.grade(grader.students(only), fake, force))
    assert len({result.student for result in results}) == len(results)
    return {result.student: result for result in results}


def scores(course: SmallCourse) -> dict[str, dict[str, tuple[float | None, bool]]]:
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        return {
            submission.student.id: {
                grade.name: (grade.auto_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def test_the_gradebook_has_what_the_judge_gave(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "wrong = 1")
    results = grade(course, FakeJudging())
    assert {name: result.status for name, result in results.items()} == {
        "ada": "graded",
        "kurt": "graded",
    }
    found = scores(course)
    assert found["ada"]["vector_add-public"] == (4, False)
    assert found["ada"]["vector_add-hidden"] == (6, False)
    assert found["kurt"]["vector_add-hidden"] == (0, False)


def test_a_second_run_does_nothing(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    grade(course, FakeJudging())
    before = scores(course)
    again = FakeJudging()
    assert grade(course, again)["ada"].status == "unchanged"
    assert again.asked == []
    assert scores(course) == before


def test_only_what_changed_is_graded_again(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "wrong = 1")
    grade(course, FakeJudging())
    course.hand_in("kurt", "right = 2")
    again = FakeJudging()
    results = grade(course, again)
    assert (results["ada"].status, results["kurt"].status) == ("unchanged", "graded")
    assert len(again.asked) == 1
    assert scores(course)["kurt"]["vector_add-hidden"] == (6, False)


def test_force_judges_again_and_only_limits(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "wrong = 1")
    grade(course, FakeJudging())
    again = FakeJudging()
    assert list(grade(course, again, "kurt", force=True)) == ["kurt"]
    assert len(again.asked) == 1
    with pytest.raises(GraderError, match="nothing submitted by tony"):
        grade(course, again, "tony")


def test_equal_code_is_judged_once(course: SmallCourse) -> None:
    for name in ("ada", "barbara", "jean"):
        course.hand_in(name, "right = 1")
    fake = FakeJudging()
    assert len(grade(course, fake)) == 3
    assert len(fake.asked) == 1
    assert all(found["vector_add-public"] == (4, False) for found in scores(course).values())


def test_a_fault_of_ours_leaves_the_grade_open_and_is_tried_again(course: SmallCourse) -> None:
    course.hand_in("ada", "broken = 1")
    result = grade(course, FakeJudging())["ada"]
    assert (result.status, result.reason) == ("ungraded", "the disk is full")
    assert scores(course)["ada"]["vector_add-public"] == (None, True)
    assert scores(course)["ada"]["vector_add-hidden"] == (None, True)
    again = FakeJudging()
    grade(course, again)
    assert len(again.asked) == 1


def test_a_notebook_that_nobody_can_read_is_named(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "right = 1").write_text('{"cells": [')
    results = grade(course, FakeJudging())
    assert results["ada"].status == "graded"
    assert results["kurt"].status == "ungraded"
    assert "cannot be graded" in results["kurt"].reason
    assert "kurt" not in scores(course)


def _without_metadata(notebook: dict[str, Any]) -> None:
    del notebook["metadata"]
    for cell in notebook["cells"]:
        del cell["metadata"]


def _version_with_a_point(notebook: dict[str, Any]) -> None:
    notebook["nbformat"], notebook["nbformat_minor"] = 4.0, None


def _number_as_source(notebook: dict[str, Any]) -> None:
    notebook["cells"][0]["source"] = 7


def _no_kind(notebook: dict[str, Any]) -> None:
    del notebook["cells"][1]["cell_type"]


def _a_number_as_cell(notebook: dict[str, Any]) -> None:
    notebook["cells"].append(7)


DAMAGE: dict[str, Callable[[dict[str, Any]], None] | str] = {
    "bertha": _number_as_source,
    "carl": _no_kind,
    "dora": _a_number_as_cell,
    "emil": "null",
    "frida": "[" * 200_000,
    "gustav": '{"nbformat": ' + "4" * 5_000 + "}",
    "hanna": "\x1b[2J\u202e",
}


def test_a_damaged_notebook_is_ungraded_by_name_and_the_rest_goes_on(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    for name, harm in DAMAGE.items():
        path = course.hand_in(name, "right = 1")
        if isinstance(harm, str):
            path.write_text(harm)
        else:
            notebook = json.loads(path.read_text())
            harm(notebook)
            path.write_text(json.dumps(notebook))
    course.hand_in("zeno", "right = 1")
    results = grade(course, FakeJudging())
    assert (results["ada"].status, results["zeno"].status) == ("graded", "graded")
    assert {name for name, result in results.items() if result.status == "ungraded"} == set(DAMAGE)
    assert all("the notebook cannot be graded" in results[name].reason for name in DAMAGE)
    assert "Cell 1 holds no text" in results["bertha"].reason
    course.hand_in("bertha", "right = 1")
    again = grade(course, FakeJudging())
    assert (again["bertha"].status, again["ada"].status) == ("graded", "unchanged")


@pytest.mark.parametrize("harm", [_without_metadata, _version_with_a_point])
def test_what_is_lost_without_loss_is_graded(
    course: SmallCourse, harm: Callable[[dict[str, Any]], None]
) -> None:
    path = course.hand_in("ada", "def vector_add():\n    right = 1")
    notebook = json.loads(path.read_text())
    harm(notebook)
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(notebook).encode())
    assert grade(course, FakeJudging())["ada"].status == "graded"
    assert scores(course)["ada"]["vector_add-hidden"] == (6, False)


def test_a_renamed_notebook_is_found_and_so_is_a_script(course: SmallCourse) -> None:
    path = course.hand_in("ada", "right = 1")
    path.rename(path.with_name("my work.ipynb"))
    path = course.hand_in("kurt", "right = 1")
    path.rename(path.with_suffix(".py"))
    results = grade(course, FakeJudging())
    assert (results["ada"].status, results["kurt"].status) == ("graded", "graded")


def test_whatever_breaks_at_one_student_stops_nobody_else(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "right = 1")
    write = Autograder._nbgrader_autograde

    def fails_for_ada(self: Autograder, student: str) -> str:
        if student == "ada":
            raise RecursionError("deep\x1b[2J")
        return write(self, student)

    monkeypatch.setattr(Autograder, "_nbgrader_autograde", fails_for_ada)
    results = grade(course, FakeJudging())
    assert results["kurt"].status == "graded"
    assert results["ada"].reason == "nbgrader could not write it: RecursionError: deep[2J"


class Killed(FakeJudging):
    """A run that dies after its first verdict."""

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        for number, judged in enumerate(super().__call__(tasks)):
            if number == 1:
                raise KeyboardInterrupt
            yield judged


def test_a_run_that_was_killed_loses_nothing(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "wrong = 1")
    with pytest.raises(KeyboardInterrupt):
        grade(course, Killed())
    again = FakeJudging()
    results = grade(course, again)
    assert results["ada"].status == "unchanged"
    assert results["kurt"].status == "graded"
    assert len(again.asked) == 1


def test_what_was_judged_but_not_written_is_not_judged_again(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    grade(course, FakeJudging())
    shutil.rmtree(course.folder / ".tilewise" / "graded")
    again = FakeJudging()
    assert grade(course, again)["ada"].status == "graded"
    assert again.asked == []


def test_the_gradebook_is_the_same_in_any_order(course: SmallCourse) -> None:
    for name, code in (("ada", "right = 1"), ("kurt", "wrong = 1"), ("tony", "wrong = 2")):
        course.hand_in(name, code)
    grade(course, FakeJudging())
    forward = scores(course)
    (course.folder / "gradebook.db").unlink()
    shutil.copy(course.released.parents[2] / "gradebook.db", course.folder)
    grader = Autograder(course.folder, ASSIGNMENT)
    list(grader.grade(["tony", "ada", "kurt"], Backwards(), True))
    assert scores(course) == forward


class Backwards(FakeJudging):
    """Verdicts in the reverse order of the questions."""

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        yield from reversed(list(super().__call__(tasks)))


def test_tampering_is_reported_once_and_by_name(course: SmallCourse) -> None:
    def cheat(notebook: object) -> None:
        cell = next(cell for cell in notebook.cells if cell.id == "vector_add-public")  # type: ignore[attr-defined]
        cell.source = "10"

    course.hand_in("kurt", "wrong = 1", cheat)
    result = grade(course, FakeJudging())["kurt"]
    assert result.tampered == ("vector_add-public is a grade cell and was changed: restored",)
    assert scores(course)["kurt"]["vector_add-public"] == (0, False)


def test_an_unknown_assignment_says_what_to_run(course: SmallCourse) -> None:
    with pytest.raises(GraderError, match="nbgrader generate_assignment 09_none"):
        Autograder(course.folder, "09_none")


def test_a_gradebook_that_is_gone_grades_nobody(course: SmallCourse) -> None:
    with pytest.raises(GraderError, match="nothing was graded"):
        Autograder(course.folder, ASSIGNMENT, "sqlite:////nowhere/at/all/gradebook.db")


def test_two_runs_at_once_are_refused(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "wrong = 1")
    grader = Autograder(course.folder, ASSIGNMENT)
    first = grader.grade(["ada", "kurt"], FakeJudging())
    next(first)
    with pytest.raises(GraderError, match="another"):
        list(Autograder(course.folder, ASSIGNMENT).grade(["ada"], FakeJudging()))
    first.close()


def test_a_submission_from_a_zip_can_be_late(course: SmallCourse, tmp_path: Path) -> None:
    with open(course.folder / "nbgrader_config.py", "a") as config:
        config.write('\nget_config().LateSubmissionPlugin.penalty_method = "zero"\n')
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-03-02 12:00:00 UTC")
    notebook = course.hand_in("77", "right = 1").read_text()
    path = tmp_path / "lms.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("lovelaceada_LATE_77_5_a.ipynb", (2026, 3, 5, 12, 0, 0))
        archive.writestr(info, notebook)

    def penalty(times: bool) -> float:
        take(path, course.folder / "submitted", ASSIGNMENT, times, lms="canvas")
        assert grade(course, FakeJudging())["77"].status == "graded"
        with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
            return gradebook.find_submission(ASSIGNMENT, "77").late_submission_penalty or 0.0

    assert (penalty(times=False), penalty(times=True)) == (0.0, 10.0)
