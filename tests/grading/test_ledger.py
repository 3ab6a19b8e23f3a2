"""One student, one work, one total: whatever happens in which order, all outputs agree.

The truth is worked out here, from nothing but what was done: what was handed in and when, which
points a person gave to which work, what the rules say.
"""

from __future__ import annotations

import csv
import math
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from graders.cli.export import PLUGINS
from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report, to_html
from graders.grading.course_config import load_config
from graders.grading.report.tables import as_json, write_csv
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, fake_marks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
STUDENTS = ("ada", "kurt")
DUE = datetime(2026, 3, 2, 12, tzinfo=UTC)
PER_DAY, MOST = 10, 50
PLACEHOLDER, WORTH, CODE = "contiguity", 5, {"right = 1": 10, "wrong = 1": 0, "broken = 1": None}
KEYS = {"canvas": "SIS Login ID", "moodle": "ID number", "gradescope": "SID"}


@dataclass
class Work:
    """What one student handed in last, and what was graded of it."""

    code: str = ""
    answer: str = ""
    late: float = 0  # days, before any extension
    graded: tuple[str, str, float] | None = None
    by_hand: dict[str, tuple[float, tuple[str, str]]] = field(default_factory=dict)
    extension: float = 0  # days, in the rules

    @property
    def points(self) -> dict[str, float | None]:
        """The truth about the three cells."""
        assert self.graded is not None
        code, answer, _ = self.graded
        full = CODE[code]
        judged = {
            "vector_add-public": None if full is None else full * 4 / 10,
            "vector_add-hidden": None if full is None else full * 6 / 10,
            PLACEHOLDER: None if answer else 0.0,
        }
        given = {
            cell: points if work == (code, answer) else None
            for cell, (points, work) in self.by_hand.items()
        }
        return judged | given

    @property
    def reached(self) -> float:
        return sum(points or 0 for points in self.points.values())

    @property
    def penalty(self) -> float:
        assert self.graded is not None
        days = math.ceil(max(0.0, self.graded[2] - self.extension))
        return self.reached * min(MOST, PER_DAY * days) / 100

    @property
    def score(self) -> float | None:
        """The truth; None while something is open or nothing was graded."""
        if self.graded is None or None in self.points.values():
            return None
        return self.reached - self.penalty


class AnyOrder(RuleBasedStateMachine):
    """Handing in, grading by either command, grading by hand, extensions, in any order."""

    template: SmallCourse

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="tilewise-ledger-"))
        shutil.copytree(self.template.folder, self.place / "course")
        self.course = SmallCourse(self.place / "course", self.template.released)
        self.works = {name: Work() for name in STUDENTS}

    def teardown(self) -> None:
        try:
            self.all_outputs_agree()
        finally:
            shutil.rmtree(self.place)

    @initialize()
    def roster_and_rules(self) -> None:
        rows = "".join(f"{name},{name.title()},X,,{n}\n" for n, name in enumerate(STUDENTS, 71))
        head = "id,first_name,last_name,email,lms_user_id\n"
        (self.course.folder / "roster.csv").write_text(f"{head}{rows}never,No,Work,,70\n")
        self._write_rules()

    def _write_rules(self) -> None:
        text = f"[due]\n{ASSIGNMENT} = {DUE:%Y-%m-%dT%H:%M:%SZ}\n"
        text += f"[late]\nper_day = {PER_DAY}\nmost = {MOST}\n"
        for name, work in self.works.items():
            if work.extension:
                text += f"[extensions.{name}]\n{ASSIGNMENT} = {{hours = {24 * work.extension}}}\n"
        (self.course.folder / "rules.toml").write_text(text)

    # ------------------------------------------------------------ what may happen

    @rule(
        student=st.sampled_from(STUDENTS),
        code=st.sampled_from(sorted(CODE)),
        answer=st.sampled_from(["", "Because of its rows.", "The stride."]),
        late=st.sampled_from([-1.0, 0.5, 1.5, 9.0]),
        command=st.sampled_from([None, "tilewise", "nbgrader"]),
    )
    def hand_in(
        self, student: str, code: str, answer: str, late: float, command: str | None
    ) -> None:
        def answers(notebook: Any) -> None:
            if answer:
                next(c for c in notebook.cells if c.id == PLACEHOLDER).source = answer

        path = self.course.hand_in(student, code, answers)
        time = f"{DUE + timedelta(days=late):%Y-%m-%d %H:%M:%S} UTC"
        (path.parent / "timestamp.txt").write_text(time)
        work = self.works[student]
        work.code, work.answer, work.late = code, answer, late
        if command == "tilewise":
            self.grade(force=False)
        elif command == "nbgrader":
            self.grade_with_nbgrader(student)

    @rule(force=st.booleans())
    def grade(self, force: bool) -> None:
        grader = Autograder(self.course.folder, ASSIGNMENT)
        list(grader.grade(grader.students(), FakeJudging(), force))
        for work in self.works.values():
            self._is_graded(work)

    @rule(student=st.sampled_from(STUDENTS))
    def grade_with_nbgrader(self, student: str) -> None:
        if self.works[student].code:
            api = NbGraderAPI(config=load_config(self.course.folder, None))
            assert api.autograde(ASSIGNMENT, student, force=True)["success"]
            self._is_graded(self.works[student])

    @staticmethod
    def _is_graded(work: Work) -> None:
        """Points for another work than this one are outdated, and stay so for good."""
        if not work.code:
            return
        before, work.graded = work.graded, (work.code, work.answer, work.late)
        if before is not None and before[:2] != work.graded[:2]:
            gone = ("", "")
            work.by_hand = {cell: (points, gone) for cell, (points, _) in work.by_hand.items()}

    @rule(
        student=st.sampled_from(STUDENTS),
        cell=st.sampled_from([PLACEHOLDER, "vector_add-hidden"]),
        points=st.sampled_from([0.0, 1.25, 5.0]),
    )
    def grade_by_hand(self, student: str, cell: str, points: float) -> None:
        """As formgrader does it."""
        work = self.works[student]
        if work.graded is None:
            self.hand_in(student, "right = 1", "Its strides.", 0.5, "tilewise")
        assert work.graded is not None
        with self._gradebook() as gradebook:
            grade = gradebook.find_grade(cell, ASSIGNMENT, ASSIGNMENT, student)
            grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.db.commit()
        work.by_hand[cell] = (points, work.graded[:2])

    @rule(student=st.sampled_from(STUDENTS), days=st.sampled_from([0, 1, 2]))
    def extend(self, student: str, days: int) -> None:
        self.works[student].extension = days
        self._write_rules()

    # ------------------------------------------------------------ what must hold

    @rule()
    def all_outputs_agree(self) -> None:
        if all(work.graded is None for work in self.works.values()):
            return
        graded = {name: work for name, work in self.works.items() if work.graded is not None}
        truth = {name: self.works[name].score for name in self.works} | {"never": None}
        for where, found in self._outputs():
            for name in graded.keys() | found.keys():
                assert found[name] == pytest.approx(truth[name], abs=0.006), (where, name)
        self._feedback_agrees(graded)
        self._formgrader_agrees(graded)

    def _outputs(self) -> Iterator[tuple[str, dict[str, float | None]]]:
        folder = self.course.folder
        report = class_report(folder, ASSIGNMENT)
        assert "Class report" in to_html(report)
        yield "report", {s.name: s.score for s in report.students if s.account.lateness.handed_in}
        yield "json", {s["student"]: s["score"] for s in as_json(report)["students"]}
        write_csv(report, folder / "report.csv")
        yield "csv", self._table(folder / "report.csv", "student", "score")
        config = load_config(folder, None)
        for platform, plugin in PLUGINS.items():
            exporter = plugin(parent=NbGraderAPI(config=config))
            exporter.to = str(folder / "table.csv")
            exporter.log.setLevel("CRITICAL")
            with self._gradebook() as gradebook:
                exporter.export(gradebook)
            if platform == "grades":
                yield platform, self._table(folder / "table.csv", "student_id", "score")
            else:
                numbers = {str(n): name for n, name in enumerate(("never", *STUDENTS), 70)}
                found = self._table(folder / "table.csv", KEYS[platform], ASSIGNMENT)
                yield platform, {numbers.get(k, k): v for k, v in found.items() if k.strip()}

    @staticmethod
    def _table(path: Path, key: str, value: str) -> dict[str, float | None]:
        with open(path, encoding="utf-8", newline="") as file:
            rows = {row[key]: row[value] for row in csv.DictReader(file)}
        return {name: float(text) if text else None for name, text in rows.items()}

    def _feedback_agrees(self, graded: dict[str, Work]) -> None:
        api = NbGraderAPI(config=load_config(self.course.folder, None))
        for name, work in graded.items():
            assert api.generate_feedback(ASSIGNMENT, name, force=True)["success"]
            place = self.course.folder / "feedback" / name / ASSIGNMENT / f"{ASSIGNMENT}.html"
            head = re.search(r"<h1>.*?: ([\d.]+) of 15 points(.*?)</h1>", place.read_text())
            assert head is not None
            assert float(head[1]) == pytest.approx(work.reached - work.penalty, abs=0.006)
            assert ("not graded yet" in head[2]) == (work.score is None)

    def _formgrader_agrees(self, graded: dict[str, Work]) -> None:
        """What nbgrader's own pages read from the gradebook."""
        with self._gradebook() as gradebook:
            for name, work in graded.items():
                found = gradebook.find_submission(ASSIGNMENT, name)
                assert found.needs_manual_grade == (work.score is None)
                if work.score is not None:
                    assert found.score == pytest.approx(work.reached)
                assert found.late_submission_penalty == pytest.approx(work.penalty, abs=0.006)

    def _gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.course.folder / 'gradebook.db'}")


def test_all_outputs_agree_after_anything(
    template: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(code: list[str], exercise: str, folder: Path) -> Any:
        assert exercise == "vector_add"
        return fake_marks("\n".join(code))

    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    monkeypatch.setattr("graders.grading.plugins.preprocess.stored_or_judged", judged)
    AnyOrder.template = template
    run_state_machine_as_test(
        AnyOrder, settings=settings(max_examples=25, stateful_step_count=10, deadline=None)
    )
