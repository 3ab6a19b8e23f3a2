"""Grades given without a GPU are completed on one, later: the other gates' verdicts stay."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from graders.grading import judging, store
from graders.grading.autograde import Autograder, GradedStudent
from graders.grading.judging import MODE
from graders.grading.marks import Marker, Marks, marks
from graders.grading.parallel import Judged, LocalProcesses, Task, Terms, judge_task
from graders.judge import gates, pipeline
from graders.judge.cases.prepared import prepare
from graders.judge.diagnosis.failures import Failure
from graders.judge.pipeline import GATE_NAMES, Judge
from graders.judge.running.interpret import RunResult
from graders.judge.runtime import Runtime
from tests.support.capturing import SECRET
from tests.support.paths import ROOMS
from tests.support.small_course import ASSIGNMENT, EXERCISE, SmallCourse
from triton_util.report import Finding, GateStatus, Report, Verdict, awaits_gpu

PASSED, FAILED, NOT_RUN = GateStatus.PASSED, GateStatus.FAILED, GateStatus.NOT_RUN
RIGHT = ROOMS.kernels("vector_add") / "correct" / "textbook.py"
SLIP = Finding("interpret", "missing-mask", "No mask", "It reads.", 3, where="cell 2")
RACE = Finding("gpu", "race-on-gpu", "It changes", "From run to run.", next_step="Look.")


def report(gpu: GateStatus = NOT_RUN, interpret: GateStatus = PASSED) -> Report:
    """What the judge says of a submission that the CPU has judged."""
    gates = dict.fromkeys(GATE_NAMES, PASSED) | {"interpret": interpret, "gpu": gpu}
    failed = FAILED in gates.values()
    points = 0 if failed else EXERCISE.max_points
    findings = (SLIP,) if interpret is FAILED else (RACE,) if gpu is FAILED else ()
    verdict = Verdict.FAILED if failed else Verdict.PASSED
    return Report(
        "x", EXERCISE.name, verdict, points, EXERCISE.max_points, gates, findings, "A", 0.1,
        public_points=points,
    )  # fmt: skip


# ------------------------------------------------------------------------------------ the judge


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A GPU whose gate finds what `findings` holds; every other gate must not run."""
    seen = SimpleNamespace(findings=[], run=RunResult(), calls=0)

    def gate(*args: Any) -> tuple[RunResult, list[Finding]]:
        seen.calls += 1
        return seen.run, seen.findings

    def never(*args: Any) -> None:
        raise AssertionError("a gate ran again")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(gates.gpu, "gpu_gate", gate)
    monkeypatch.setattr(pipeline, "GATES", [replace(one, run=never) for one in pipeline.GATES])
    workers = SimpleNamespace(tier="A", layers={}, gpu_seconds=0.0, compiled_there=0)
    monkeypatch.setattr(Runtime, "workers", lambda self, device: workers)
    return seen


def test_only_the_gpu_judges(gpu: SimpleNamespace) -> None:
    with Judge("all") as judge:
        done = judge.complete(RIGHT, EXERCISE, report())
    assert gpu.calls == 1
    assert done.gates == dict.fromkeys(GATE_NAMES, PASSED)
    assert (done.verdict, done.points) == (Verdict.PASSED, EXERCISE.max_points)


def test_what_fails_on_the_gpu_costs_its_part(gpu: SimpleNamespace) -> None:
    (item,) = prepare(EXERCISE, EXERCISE.large, SECRET)
    evidence = SimpleNamespace()
    gpu.run.failures.append(
        Failure(item.case, "crashed", evidence, item.expectation, None)  # type: ignore[arg-type]
    )
    gpu.findings.append(RACE)
    with Judge("all") as judge:
        done = judge.complete(RIGHT, EXERCISE, report())
    assert done.verdict is Verdict.FAILED
    assert done.points == EXERCISE.max_points - EXERCISE.parts["edges"]
    assert [finding.code for finding in done.findings] == ["race-on-gpu"]


@pytest.mark.parametrize(
    "earlier", [report(gpu=PASSED), report(gpu=FAILED), report(interpret=FAILED)]
)
def test_what_needs_no_gpu_stays_as_it_is(gpu: SimpleNamespace, earlier: Report) -> None:
    with Judge("all") as judge:
        assert judge.complete(RIGHT, EXERCISE, earlier) is earlier
    assert gpu.calls == 0


@pytest.mark.parametrize(("capability", "ran"), [((8, 0), 0), ((8, 9), 1), ((9, 0), 1)])
def test_on_a_gpu_that_is_too_old_nothing_runs_and_nothing_is_lost(
    gpu: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], ran: int
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a card")
    demanding = replace(EXERCISE, least_capability=89)
    with Judge("all") as judge:
        done = judge.complete(RIGHT, demanding, report())
        again = judge.complete(RIGHT, demanding, done)
    assert gpu.calls == ran
    assert (done.verdict, done.points) == (Verdict.PASSED, EXERCISE.max_points)
    assert done.gates["gpu"] is (PASSED if ran else NOT_RUN)
    codes = [] if ran else ["gpu-too-old"]
    assert [remark.code for remark in done.remarks] == codes
    assert [remark.code for remark in again.remarks] == codes


def test_without_a_gpu_nothing_changes_unless_one_is_demanded() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with Judge("all") as judge:
        assert judge.complete(RIGHT, EXERCISE, report()) == report()
    with Judge("gpu", allow_unsandboxed=True) as judge:
        assert judge.complete(RIGHT, EXERCISE, report()).verdict is Verdict.UNGRADED


def test_a_report_survives_its_line_of_json() -> None:
    for one in (report(), report(interpret=FAILED), report(gpu=FAILED)):
        kept = Marks.from_json(marks(EXERCISE, one).to_json())
        again = marks(EXERCISE, Report.from_json(kept.report))
        assert again.report == kept.report
        assert (again.public.points, again.hidden.points) == (
            kept.public.points,
            kept.hidden.points,
        )
        assert kept.awaits_gpu == awaits_gpu(one.gates)


# --------------------------------------------------------------------------------- the classroom


class Judging:
    """Judges by a word in the code; where `has_gpu`, completes what it is given."""

    def __init__(self, has_gpu: bool) -> None:
        self.has_gpu = has_gpu
        self.asked: list[tuple[str, bool]] = []

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        for task in tasks:
            code = "\n".join(task.code)
            word = next(word for word in ("right", "wrong", "races") if f"{word} =" in code)
            self.asked.append((word, task.earlier is not None))
            interpret = FAILED if word == "wrong" else PASSED
            gpu = NOT_RUN
            if self.has_gpu and interpret is PASSED:
                gpu = FAILED if word == "races" else PASSED
            yield task, marks(EXERCISE, report(gpu, interpret))


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path) -> SmallCourse:
    folder = tmp_path / "course"
    shutil.copytree(template.folder, folder)
    course = SmallCourse(folder, template.released)
    for student, code in (("ada", "right = 1"), ("kurt", "wrong = 1"), ("rosa", "races = 1")):
        course.hand_in(student, code)
    return course


def grade(course: SmallCourse, fake: Judging) -> dict[str, GradedStudent]:
    grader = Autograder(course.folder, ASSIGNMENT)
    return {result.student: result for result in grader.grade(grader.students(), fake)}


def test_a_gpu_host_completes_what_a_class_was_given(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(grade(course, Judging(has_gpu=False))) == 3
    monkeypatch.setenv(MODE, "all")
    monkeypatch.setattr(store, "judge_version", lambda: "another torch, another triton")
    on_gpu = Judging(has_gpu=True)
    results = grade(course, on_gpu)
    assert {result.status for result in results.values()} == {"graded"}
    assert sorted(on_gpu.asked) == [("races", True), ("right", True)]  # not the one that failed
    assert judged_again(course) == []
    marks_store = store.MarksStore(course.folder / judging.STORE)
    found = {
        word: judging.known_marks(marks_store, code_of(course, student), EXERCISE.name)
        for student, word in (("ada", "right"), ("kurt", "wrong"), ("rosa", "races"))
    }
    assert [mark and mark.report["gates"]["gpu"] for mark in found.values()] == [
        "passed",
        "not_run",
        "failed",
    ]


def code_of(course: SmallCourse, student: str) -> list[str]:
    from graders.grading.autograde import _code

    path = course.folder / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    return _code(path, Autograder(course.folder, ASSIGNMENT)._masters)


def judged_again(course: SmallCourse) -> list[tuple[str, bool]]:
    fake = Judging(has_gpu=True)
    assert {result.status for result in grade(course, fake).values()} == {"unchanged"}
    return fake.asked


def test_a_host_without_a_gpu_neither_judges_again_nor_forgets_what_is_open(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    grade(course, Judging(has_gpu=False))
    monkeypatch.setenv(MODE, "all")
    without = Judging(has_gpu=False)
    grade(course, without)
    assert without.asked == []
    assert {result.status for result in grade(course, without).values()} == {"unchanged"}
    on_gpu = Judging(has_gpu=True)
    grade(course, on_gpu)
    assert sorted(on_gpu.asked) == [("races", True), ("right", True)]


def test_a_worker_completes_with_its_marker(monkeypatch: pytest.MonkeyPatch) -> None:
    class OneJudge:
        def complete(self, path: Path, exercise: object, known: Report) -> Report:
            assert known.gates["interpret"] is PASSED
            return replace(known, gates={**known.gates, "gpu": PASSED})

        def judge(self, path: Path, exercise: object) -> Report:
            raise AssertionError("all gates ran again")

        def close(self) -> None:
            pass

    from graders.grading import parallel

    monkeypatch.setattr(parallel, "warm_marker", lambda *_: Marker(OneJudge()))
    monkeypatch.setenv(MODE, "all")
    monkeypatch.setenv("TILEWISE_ALLOW_UNSANDBOXED", "0")
    earlier = marks(EXERCISE, report())
    done = judge_task(("x = 1",), EXERCISE.name, Terms(earlier.to_json()))
    assert done["report"]["gates"]["gpu"] == "passed"
    assert done["public"]["points"] == earlier.public.points


def test_local_processes_know_whether_there_is_a_gpu() -> None:
    assert LocalProcesses(1).has_gpu == torch.cuda.is_available()
