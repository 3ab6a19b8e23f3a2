"""Grading on submission: what arrives is graded and answered, however often that is ended."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash

from graders.cli.autograde import autograde
from graders.grading import judging, watching
from graders.grading.autograde import Autograder
from graders.grading.intake.rules import Rules, read_rules
from graders.grading.parallel import Judged, Task
from graders.grading.watching import OURS, Look, Watcher
from graders.judge.records import GraderError
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


SECONDS = 240.0  # for what takes a few on a quiet machine


class Killed(BaseException):
    """What ends a process at that line."""


class Class:
    """A small course whose learners hand in through the exchange."""

    def __init__(self, course: SmallCourse) -> None:
        self.course = course
        self.place = course.folder / "exchange" / "tilewise"
        self.judged = FakeJudging()

    def watcher(self) -> Watcher:
        return Watcher(self.course.folder, ASSIGNMENT, None, lambda: self.judged)

    def hand_in(self, student: str, code: str, hour: int = 10) -> str:
        """What `nbgrader submit` puts into the exchange; returns the submission's secret."""
        stamp = f"2026-11-02 {hour:02}:00:00.000000 UTC"
        folder = self.place / "inbound" / f"{student}+{ASSIGNMENT}+{stamp}+{hour}"
        folder.mkdir(parents=True)
        notebook = nbformat.read(self.course.released, as_version=4)
        next(cell for cell in notebook.cells if cell.id == "vector_add").source = code
        (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(notebook))
        (folder / "timestamp.txt").write_text(stamp)
        secret = f"secret of {student} at {hour}"
        (folder / "submission_secret.txt").write_text(secret)
        return secret

    def page(self, secret: str) -> str:
        """What the learner's `nbgrader fetch_feedback` finds; "" where there is nothing."""
        name = notebook_hash(secret=secret, notebook_id=ASSIGNMENT)
        path = self.place / "feedback" / f"{name}.html"
        return path.read_text() if path.exists() else ""

    def scores(self) -> dict[str, float]:
        with Gradebook(f"sqlite:///{self.course.folder / 'gradebook.db'}") as gradebook:
            found = gradebook.assignment_submissions(ASSIGNMENT)
            return {submission.student.id: submission.score for submission in found}

    def rules(self, text: str) -> None:
        (self.course.folder / "rules.toml").write_text(text)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    return make(tmp_path_factory.mktemp("template"))


@pytest.fixture
def klass(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Class:
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    folder = tmp_path / "course"
    shutil.copytree(template.folder, folder)
    config = folder / "nbgrader_config.py"
    text = config.read_text().replace(str(template.folder), str(folder))
    config.write_text(f"{text}\nc.ExchangeCollect.check_owner = False\n")
    (folder / "exchange/tilewise/inbound").mkdir(parents=True)
    released = folder / template.released.relative_to(template.folder)
    return Class(SmallCourse(folder, released))


def test_what_arrives_is_graded_and_answered_once(klass: Class) -> None:
    watcher = klass.watcher()
    assert watcher.look() == Look()
    first = klass.hand_in("ada", "wrong = 1", 10)
    look = watcher.look()
    assert [(g.student, g.status) for g in look.graded] == [("ada", "graded")]
    assert look.published == ("ada",)
    assert "public cases: 0 of 4 points" in klass.page(first)
    assert "hidden cases: " not in klass.page(first)
    assert watcher.look() == Look()
    second = klass.hand_in("ada", "right = 2", 11)
    klass.hand_in("grace", "right = 3", 11)
    assert watcher.look().published == ("ada", "grace")
    assert "All of them are right" in klass.page(second)
    assert "0 of 4" in klass.page(first)
    assert klass.scores() == {"ada": 10, "grace": 10}
    assert len(klass.judged.asked) == 3


def test_a_page_that_the_instructor_released_stays(klass: Class) -> None:
    secret = klass.hand_in("ada", "right = 1")
    klass.watcher().look()
    name = notebook_hash(secret=secret, notebook_id=ASSIGNMENT)
    (klass.place / "feedback" / f"{name}.html").write_text("<html>all of it")
    klass.hand_in("grace", "right = 1")
    assert klass.watcher().look().published == ("grace",)
    assert klass.page(secret) == "<html>all of it"


def ends_while_judging(patch: pytest.MonkeyPatch, klass: Class) -> None:
    def dies(_: FakeJudging, tasks: Iterable[Task]) -> Iterator[Judged]:
        next(iter(tasks))
        raise Killed

    patch.setattr(FakeJudging, "__call__", dies)


def ends_before_the_second_grade(patch: pytest.MonkeyPatch, klass: Class) -> None:
    written, write = [], Autograder._write

    def dies(self: Autograder, submission: object) -> object:
        written.append(submission)
        if len(written) == 2:
            raise Killed
        return write(self, submission)  # type: ignore[arg-type]

    patch.setattr(Autograder, "_write", dies)


def ends_while_publishing(patch: pytest.MonkeyPatch, klass: Class) -> None:
    replace = Path.replace

    def dies(self: Path, target: Path) -> Path:
        if len(list((klass.place / "feedback").glob("*.html"))) == 1:
            raise Killed
        return replace(self, target)

    patch.setattr(Path, "replace", dies)


@pytest.mark.parametrize(
    "ends", [ends_while_judging, ends_before_the_second_grade, ends_while_publishing]
)
def test_another_watcher_goes_on_where_one_was_killed(
    klass: Class, ends: Callable[[pytest.MonkeyPatch, Class], None]
) -> None:
    secrets = {name: klass.hand_in(name, "right = 1") for name in ("ada", "grace", "kurt")}
    with pytest.MonkeyPatch.context() as patch:
        ends(patch, klass)
        with pytest.raises(Killed):
            klass.watcher().look()
    klass.watcher().look()
    assert klass.scores() == dict.fromkeys(secrets, 10)
    assert all(klass.page(secret).startswith(OURS) for secret in secrets.values())


def watched(klass: Class, log: Path, stop: str, done: Callable[[], bool]) -> list[str]:
    """What a process that watches has noted when `done` is true and `kill -9` has ended it."""
    log.write_text("")
    place = str(klass.course.folder)
    command = [sys.executable, "-m", "tests.support.watching_process", place, str(log), stop]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    deadline = time.monotonic() + SECONDS
    while not done() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    output, _ = process.communicate()
    assert done(), output
    return log.read_text().splitlines()


def test_a_process_that_is_killed_loses_nothing_and_nobody_is_graded_twice(
    klass: Class, tmp_path: Path
) -> None:
    """`kill -9` while it judges the second of two; meanwhile a third one arrives."""
    log, stop = tmp_path / "log", "judging kurt"
    secrets = {name: klass.hand_in(name, f"right = 1  # {name}") for name in ("ada", "kurt")}
    told = watched(klass, log, stop, lambda: log.read_text().endswith(f"{stop}\n"))
    assert told == ["judging ada", "written ada", stop]
    assert klass.page(secrets["ada"]) == ""
    written = klass.course.folder / "autograded" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    first = written.stat().st_mtime_ns
    secrets["grace"] = klass.hand_in("grace", "wrong = 1  # grace")
    told = watched(klass, log, "", lambda: all(klass.page(s) for s in secrets.values()))
    judged = ["judging grace", "written grace", "judging kurt", "written kurt"]
    assert told == [*judged, "page ada", "page grace", "page kurt"]
    assert klass.scores() == {"ada": 10, "grace": 0, "kurt": 10}
    assert "0 of 4" in klass.page(secrets["grace"])
    assert written.stat().st_mtime_ns == first


def test_a_fault_is_told_once_and_tried_again(
    klass: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    klass.hand_in("ada", "right = 1")
    tries: list[int] = []

    def full(*_: object) -> Iterator[str]:
        tries.append(1)
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "_publish", full)
        watcher = klass.watcher()
        patch.setattr(watching.time, "sleep", lambda _: None)
        looks = watcher.looks()
        assert next(looks).problem == "the disk is full"
        assert watcher.look().problem == "the disk is full"
    assert next(looks).published == ("ada",)
    assert len(tries) == 2


def test_attempts_beyond_the_limit_do_not_count(klass: Class) -> None:
    klass.rules(f'[attempts]\n{ASSIGNMENT} = 2\n[extensions.grace]\n"*" = {{attempts = 1}}\n')
    watcher = klass.watcher()
    for hour, word in ((9, "wrong"), (10, "wrong"), (11, "right")):
        for name in ("ada", "grace"):
            klass.hand_in(name, f"{word} = {hour}", hour)
        watcher.look()
    assert klass.scores() == {"ada": 0, "grace": 10}


def test_who_takes_a_submission_back_has_had_the_attempt(klass: Class) -> None:
    klass.rules(f"[attempts]\n{ASSIGNMENT} = 1\n")
    klass.hand_in("ada", "wrong = 1", 9)
    watcher = klass.watcher()
    watcher.look()
    for folder in (klass.place / "inbound").iterdir():
        shutil.rmtree(folder)
    klass.hand_in("ada", "right = 1", 10)
    watcher.look()
    assert klass.scores() == {"ada": 0}


def test_an_extension_moves_the_due_date_of_one_student(klass: Class) -> None:
    klass.rules(f"[extensions.ada]\n{ASSIGNMENT} = {{days = 1, hours = 2}}\n")
    with Gradebook(f"sqlite:///{klass.course.folder / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-11-01 12:00:00 UTC")
    for name in ("ada", "grace"):
        klass.hand_in(name, "right = 1", 13)  # a day and an hour after it
    klass.watcher().look()
    with Gradebook(f"sqlite:///{klass.course.folder / 'gradebook.db'}") as gradebook:
        late = {
            name: gradebook.find_submission(ASSIGNMENT, name).total_seconds_late
            for name in ("ada", "grace")
        }
    assert late == {"ada": 0, "grace": 25 * 3600}


def test_an_extension_waits_for_a_due_date(klass: Class) -> None:
    klass.rules(f"[extensions.ada]\n{ASSIGNMENT} = {{days = 1}}\n")
    klass.hand_in("ada", "right = 1")
    look = klass.watcher().look()
    assert [(result.student, result.status) for result in look.graded] == [("ada", "graded")]


def test_rules_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    assert read_rules(tmp_path) == Rules()
    path = tmp_path / "rules.toml"
    path.write_text('[attempts]\n"*" = 3\n[extensions.ada]\nx = {hours = 12}\n')
    rules = read_rules(tmp_path)
    assert (rules.limit("ada", "x"), rules.limit("grace", "y")) == (3, 3)
    assert rules.more_time("ada", "x") == timedelta(hours=12)
    assert rules.more_time("ada", "y") == rules.more_time("grace", "x") == timedelta(0)
    for text, reason in (
        ("[attempts]\nx = 0\n", "a number from 1"),
        ("[limits]\n", "unknown"),
        ("[extensions.ada]\nx = 3\n", "is written as"),
        ("[extensions.ada]\nx = {days = -1}\n", "below 0"),
        ("attempts = [", "cannot be read"),
    ):
        path.write_text(text)
        with pytest.raises(GraderError, match=reason):
            read_rules(tmp_path)


def test_the_command_refuses_what_does_not_go_with_watching(klass: Class) -> None:
    arguments = [ASSIGNMENT, "--course", str(klass.course.folder), "--watch", "--force"]
    done = CliRunner().invoke(autograde, [*arguments, "--scheduler", "tcp://127.0.0.1:1"])
    assert done.exit_code == 2
    assert "--watch grades what arrives" in done.output
