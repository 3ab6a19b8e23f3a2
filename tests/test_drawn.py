"""Which known kernels a run judges, in which order, and when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import drawn
from tests.support.drawn import ONE_IN, Budget, Exercise, Plan, exercise_of, summary

TEST = "tests/test_course.py::test_the_wrong_kernel_is_refused_by_name"
SOFTMAX, COPY = Exercise("reductions", "softmax"), Exercise("debugging", "copy")


def ids_of(exercise: Exercise, count: int = 300) -> list[str]:
    return [f"{TEST}[{exercise.lesson}/{exercise.name}/mistake{n}]" for n in range(count)]


@pytest.mark.parametrize(
    ("nodeid", "exercise"),
    [
        (f"{TEST}[reductions/softmax/eps_added]", SOFTMAX),
        (f"{TEST}[reductions/softmax/eps_added/2]", SOFTMAX),
        (f"{TEST}[reductions-softmax-eps_added]", None),
        (f"{TEST}[another/softmax/eps_added]", None),
        ("tests/test_course.py::test_no_file_stands_alone_in_its_room", None),
    ],
)
def test_a_kernel_is_known_by_its_parameters(nodeid: str, exercise: Exercise | None) -> None:
    assert exercise_of(nodeid) == exercise


def test_every_kernel_of_a_touched_exercise_and_a_sample_of_the_others() -> None:
    plan = Plan("a commit", touched=("softmax",))
    assert all(map(plan.chosen, ids_of(SOFTMAX)))
    others = list(filter(plan.chosen, ids_of(COPY, 6000)))
    assert 6000 / ONE_IN / 2 < len(others) < 6000 / ONE_IN * 2
    assert plan.chosen("tests/test_house.py::test_words")
    assert others != list(filter(Plan("another").chosen, ids_of(COPY, 6000)))


def test_a_sample_does_not_ask_what_was_touched() -> None:
    plan = Plan("a commit", touched=("softmax",), mode="sample")
    assert len(list(filter(plan.chosen, ids_of(SOFTMAX)))) < 30


def test_all_are_chosen_where_all_are_wanted() -> None:
    assert all(map(Plan("a commit", mode="all").chosen, ids_of(COPY)))


def test_touched_exercises_come_first_and_every_exercise_has_its_turn() -> None:
    plan = Plan("a commit", touched=("softmax",), mode="all")
    gelu = Exercise("fusion", "gelu")
    names = [*ids_of(COPY), *ids_of(gelu), *ids_of(SOFTMAX), "tests/test_house.py::test_x"]
    order = sorted(names, key=plan.place)
    assert order[0] == "tests/test_house.py::test_x"
    assert {exercise_of(name) for name in order[1:301]} == {SOFTMAX}
    groups = list(dict.fromkeys(map(plan.group, order[301:])))
    assert len(groups) == 2 * drawn.ROUNDS  # each in one piece
    assert [("copy" in group) for group in groups[:4]].count(True) == 2


def test_the_sample_is_judged_in_the_first_round() -> None:
    plan = Plan("a commit")
    places = {plan.place(name)[:3] for name in ids_of(COPY, 6000) if plan.chosen(name)}
    assert places == {(1, True, 0)}


def test_a_plan_survives_the_way_to_another_process() -> None:
    plan = Plan("a commit", ("solutions/reductions.py",), ("reductions",), "all", 5)
    assert Plan.from_data(plan.to_data()) == plan


ATTACKS = [f"tests/attacks/test_judge.py::test_the_judge_holds[attack{n}]" for n in range(300)]
SANDBOX = ("graders/judge/sandbox",)


@pytest.mark.parametrize(
    ("changed", "mode", "everything"),
    [
        ("graders/judge/sandbox/pool.py", "touched", True),
        ("tests/attacks/test_judge.py", "touched", True),
        ("graders/judge/sandbox/pool.py", "sample", False),
        ("docs/learn.md", "touched", False),
        ("docs/learn.md", "all", False),
        ("docs/learn.md", "nightly", True),
    ],
)
def test_marked_tests_are_drawn_unless_the_change_touches_them(
    changed: str, mode: str, everything: bool
) -> None:
    plan = Plan("a commit", changed=(changed,), mode=mode)
    some = [name for name in ATTACKS if plan.chosen(name, SANDBOX)]
    assert (len(some) == 300) if everything else (20 < len(some) < 100)
    assert all(map(plan.chosen, ATTACKS))  # without the marker


@pytest.mark.parametrize(
    ("variables", "mode", "minutes"),
    [
        ({}, "touched", 30),
        ({"CI": "true"}, "all", 30),
        ({"CI": "true", drawn.KERNELS: "sample", drawn.MINUTES: "2.5"}, "sample", 2.5),
    ],
)
def test_the_environment_decides(
    variables: dict[str, str], mode: str, minutes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI", drawn.KERNELS, drawn.MINUTES):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    plan = Plan.of_environment()
    assert (plan.mode, plan.minutes) == (mode, minutes)


def test_a_mode_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(drawn.KERNELS, "none")
    with pytest.raises(ValueError, match="set it to one of touched, sample, all, nightly"):
        Plan.of_environment()


@pytest.mark.parametrize(
    ("path", "touched"),
    [
        ("tests/course/reductions/softmax/wrong.toml", SOFTMAX),
        ("tests/course/reductions/softmax/correct/several_rows.py", SOFTMAX),
        ("solutions/reductions.py", SOFTMAX),
        ("graders/course/reductions/exercise.py", SOFTMAX),
        ("graders/course/reductions/hidden.py", SOFTMAX),
        ("graders/course/reductions/mistakes/softmax_records.py", SOFTMAX),
    ],
)
def test_a_file_touches_its_exercise_and_no_other(path: str, touched: Exercise) -> None:
    plan = Plan("", touched=tuple(drawn.touched([path])))
    assert (drawn.ROOT / path).is_file()
    assert plan.touches(touched)
    assert not plan.touches(COPY)


@pytest.mark.parametrize(
    "path", ["graders/judge/pipeline.py", "graders/course/common/shared.py", "docs/softmax.md"]
)
def test_what_all_exercises_use_touches_none(path: str) -> None:
    plan = Plan("", touched=tuple(drawn.touched([path])))
    assert not any(map(plan.touches, (SOFTMAX, COPY)))


@dataclass
class Repository:
    root: Path

    def git(self, *words: str) -> None:
        name = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *name, *words], cwd=self.root, check=True)

    def commit(self, name: str) -> None:
        (self.root / name).write_text(name)
        self.git("add", name)
        self.git("commit", "-q", "-m", name)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Its main branch has two commits, of `one` and of `two`."""
    monkeypatch.setattr(drawn, "ROOT", tmp_path)
    made = Repository(tmp_path)
    made.git("init", "-q", "-b", "main")
    made.commit("one")
    made.commit("two")
    return made


def test_the_main_branch_is_compared_with_its_parent(repository: Repository) -> None:
    assert drawn.changed() == ["two"]


def test_a_branch_is_compared_with_where_it_left_the_main_branch(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "change")
    for name in ("three", "four"):
        repository.commit(name)
    (repository.root / "five").write_text("not committed")
    assert sorted(drawn.changed()) == ["five", "four", "three"]


def test_without_git_nothing_counts_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn, "ROOT", tmp_path)
    assert drawn.changed() == []


def test_the_clock_starts_with_the_first_question_and_runs_for_all(tmp_path: Path) -> None:
    clock, started = tmp_path / "judging", time.time()
    here, elsewhere = Budget(clock, 30, started), Budget(clock, 30, started)
    assert not here.used
    first = clock.stat().st_mtime
    os.utime(clock, (first - 29 * 60,) * 2)
    assert not elsewhere.used
    os.utime(clock, (first - 30 * 60,) * 2)
    assert here.used
    assert elsewhere.used


def test_an_old_run_judges_no_more(tmp_path: Path) -> None:
    started = time.time() - 60 * drawn.LATEST_MINUTES
    assert Budget(tmp_path / "judging", 30, started).used


def test_the_summary_counts_what_ran() -> None:
    plan = Plan("a commit", touched=("softmax",), mode="all")
    line = summary(plan, ran=[SOFTMAX, COPY], known=[SOFTMAX, SOFTMAX, COPY, COPY, COPY])
    assert line.startswith("2 of 5 tests of known kernels ran, 1 of 2 of those")
    assert line.endswith("that the change touches (softmax)")


def test_the_summary_says_that_nothing_was_touched() -> None:
    assert summary(Plan("a"), [], [COPY]).endswith("touches (no exercise)")


KERNELS = """
import os

import pytest

from tests.conftest import BUDGET


@pytest.mark.parametrize("number", range(4), ids=lambda n: f"reductions/softmax/kernel{n}")
def test_kernel(number, request):
    if os.environ["AGED"]:  # the first one takes all of the time
        os.utime(request.config.stash[BUDGET].file, (0, 0))


def test_other():
    assert True
"""


def run(folder: Path, *words: str, **variables: str) -> str:
    """What pytest prints for four kernels and another test."""
    file = folder / "test_kernels.py"
    file.write_text(KERNELS)
    flags = ("-p", "tests.conftest", "--dist", "loadfile", "--no-loadscope-reorder", "-rs")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *flags, *words, str(file)],
        cwd=drawn.ROOT,
        env={**os.environ, "AGED": "", "CI": "true", drawn.KERNELS: "", drawn.MINUTES: ""}
        | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_time_ends_the_judging_in_every_process_and_the_counts_are_printed(
    tmp_path: Path,
) -> None:
    said = run(tmp_path, "-n", "2", **{drawn.MINUTES: "0"})
    assert "0 of 4 tests of known kernels ran" in said
    assert "no time was left to judge these" in said
    assert "1 passed, 4 skipped in" in said


def test_what_was_judged_before_the_time_was_used_counts(tmp_path: Path) -> None:
    said = run(tmp_path, "-n", "0", AGED="yes")
    assert "1 of 4 tests of known kernels ran" in said
    assert "2 passed, 3 skipped in" in said


def test_kernels_that_were_asked_for_by_name_are_judged(tmp_path: Path) -> None:
    said = run(tmp_path, "-n", "0", "-k", "softmax", **{drawn.MINUTES: "0"})
    assert "4 of 4 tests of known kernels ran" in said


def test_the_nightly_run_has_no_limit(tmp_path: Path) -> None:
    said = run(tmp_path, "-n", "0", **{drawn.MINUTES: "0", drawn.KERNELS: "nightly"})
    assert "4 of 4 tests of known kernels ran" in said
