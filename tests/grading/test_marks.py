"""Marks: what a report becomes in the grade cells, and what can never happen there."""

from dataclasses import replace
from pathlib import Path

import pytest

from graders.authoring.grade_cells import hidden_points, public_points
from graders.grading.marks import CellMark, Marker, Marks, marks
from graders.grading.store import MarksStore, key
from graders.judge import discovery
from graders.judge.pipeline import GATE_NAMES
from graders.judge.records import Exercise, GraderError
from triton_util.report import Finding, GateStatus, Report, Speed, Table, Verdict

EXERCISE = discovery.exercise("vector_add")
FULL = EXERCISE.max_points


def report(
    verdict: Verdict, points: float | None, public: float | None, *findings: Finding
) -> Report:
    gates = dict.fromkeys(GATE_NAMES, GateStatus.PASSED)
    return Report(
        "x.ipynb", EXERCISE.name, verdict, points, FULL, gates, findings, "A", 0.1,
        public_points=public,
    )  # fmt: skip


def test_a_right_submission_gets_all_points_in_both_cells() -> None:
    given = marks(EXERCISE, report(Verdict.PASSED, FULL, FULL))
    assert given.public.points == public_points(EXERCISE)
    assert given.hidden.points == hidden_points(EXERCISE)
    assert "All of them are right." in given.public.text


def test_speed_is_told_in_the_hidden_cell_and_changes_no_points() -> None:
    fast = Speed("2²⁵ elements", "H200", 0.1, 0.1, 1.0, 2, 2, "As fast as the model solution.")
    measured = replace(report(Verdict.PASSED, FULL, FULL), speed=fast)
    given = marks(EXERCISE, measured)
    assert given.hidden.points == hidden_points(EXERCISE)
    assert "2 of 2 bonus points for speed" in given.hidden.text
    assert "speed" not in given.public.text
    assert Marks.from_json(given.to_json()).bonus == 2
    assert marks(EXERCISE, report(Verdict.PASSED, FULL, FULL)).bonus is None


def test_a_remark_is_told_in_the_public_cell_and_changes_no_points() -> None:
    remark = Finding("traffic", "not-grouped", "Not grouped", "It passes.", next_step="Order it.")
    given = marks(EXERCISE, replace(report(Verdict.PASSED, FULL, FULL), remarks=(remark,)))
    assert given.public.points == public_points(EXERCISE)
    assert "costs nothing" in given.public.text
    assert "Not grouped" in given.public.text
    assert "Not grouped" not in given.hidden.text
    (kept,) = Report.from_json(Marks.from_json(given.to_json()).report).remarks
    assert kept == remark


TABLE = Table("What each program stored", ("program", "stored"), (("0", "31"),), (True,), ("Note",))


def test_the_table_of_programs_is_told_of_public_cases_alone() -> None:
    public = Finding("interpret", "slip", "A slip", "It slips.", table=TABLE)
    public = replace(public, case=EXERCISE.cases[0].name)
    hidden = replace(public, case="a hidden case (core)")
    for case in ("a hidden case (core)", "a case of nobody's", None):
        given = marks(EXERCISE, report(Verdict.FAILED, 0, 0, replace(public, case=case)))
        assert "What each program stored" not in given.public.text + given.hidden.text
    given = marks(EXERCISE, report(Verdict.FAILED, 0, 0, public, hidden))
    assert "✗ 0        31" in given.public.text
    assert "What each program stored" not in given.hidden.text


def test_a_failing_hidden_case_costs_only_the_hidden_cell() -> None:
    finding = Finding(
        "interpret", "out-of-bounds-load", "It reads outside", "Seen in a hidden case (core).",
        line=7, case="a hidden case (core)", next_step="Mask the load.",
    )  # fmt: skip
    given = marks(EXERCISE, report(Verdict.FAILED, 0, FULL, finding))
    assert given.public.points == public_points(EXERCISE)
    assert given.hidden.points == 0
    assert "It reads outside" in given.hidden.text
    assert "It reads outside" not in given.public.text
    assert "Next: Mask the load." in given.hidden.text


def test_the_name_of_a_hidden_case_is_never_told() -> None:
    finding = Finding("interpret", "x", "Wrong", "m", case="n=1048579 float32 secret")
    given = marks(EXERCISE, report(Verdict.FAILED, 0, 0, finding))
    assert "secret" not in given.public.text + given.hidden.text
    assert "a hidden case" in given.public.text


def test_parts_give_partial_points() -> None:
    given = marks(EXERCISE, report(Verdict.FAILED, FULL / 2, FULL, Finding("g", "c", "t", "m")))
    assert given.hidden.points == hidden_points(EXERCISE) / 2


class Broken:
    def judge(self, path: Path, exercise: Exercise) -> Report:
        raise GraderError("the disk is full")

    def close(self) -> None:
        pass


def test_a_fault_of_ours_is_no_zero() -> None:
    given = Marker(Broken()).mark(Path("x.ipynb"), EXERCISE.name)
    assert given.public.points is None
    assert given.hidden.points is None
    assert "the disk is full" in given.reason
    assert "not a zero" in given.public.text


@pytest.mark.parametrize("points", [-0.1, 4.1, float("nan")])
def test_no_mark_outside_its_range_can_be_made(points: float) -> None:
    with pytest.raises(GraderError, match="not between"):
        CellMark(points, 4, "")


def test_marks_survive_json_and_the_store(tmp_path: Path) -> None:
    given = marks(EXERCISE, report(Verdict.PASSED, FULL, FULL))
    store = MarksStore(tmp_path)
    name = key(["code"], EXERCISE.name, "interpret")
    assert store.get(name) is None
    store.put(name, given)
    kept = store.get(name)
    assert kept == Marks.from_json(given.to_json())
    assert kept is not None
    assert kept.cells() == given.cells()


def test_what_could_not_be_graded_is_not_kept(tmp_path: Path) -> None:
    store = MarksStore(tmp_path)
    store.put("ab12", Marker(Broken()).mark(Path("x.ipynb"), EXERCISE.name))
    assert store.get("ab12") is None
    assert list(tmp_path.rglob("*.json")) == []


def test_a_damaged_file_in_the_store_is_judged_again(tmp_path: Path) -> None:
    store = MarksStore(tmp_path)
    store.put("ab12", marks(EXERCISE, report(Verdict.PASSED, FULL, FULL)))
    next(tmp_path.rglob("*.json")).write_text('{"exercise": "vec')
    assert store.get("ab12") is None


def test_the_key_depends_on_code_exercise_and_mode() -> None:
    keys = {
        key(["a"], "vector_add", "interpret"),
        key(["b"], "vector_add", "interpret"),
        key(["a", ""], "vector_add", "interpret"),
        key(["a"], "vector_add", "gpu"),
    }
    assert len(keys) == 4
