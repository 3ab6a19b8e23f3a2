"""Many workers, one result: processes and a Dask cluster, with workers that are killed.

What the workers ask here is no judge but a few lines below: these tests are about what
happens to tasks, and every verdict must be the one that a single process gives.
"""

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graders.grading import judging, parallel
from graders.grading.autograde import Autograder
from graders.grading.marks import UNSANDBOXED, Marks
from graders.grading.parallel import (
    ATTEMPTS,
    DaskCluster,
    Judging,
    LocalProcesses,
    Task,
    Terms,
    judge_task,
)
from graders.judge.records import GraderError
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, fake_marks, make


def ask(code: tuple[str, ...], exercise: str, terms: Terms) -> dict[str, Any]:
    """The fake judge; code may name a file: the process kills itself until that is there."""
    for line in code[0].splitlines():
        if line.startswith("# dies unless "):
            path = Path(line.removeprefix("# dies unless "))
            if not path.exists():
                path.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        if line == "# always dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if line == "# raises":
            raise RuntimeError("no space left on device")
    return fake_marks(code[0]).to_json()


def tasks(*code: str) -> list[Task]:
    return [Task(f"key-{number}", (text,), "vector_add") for number, text in enumerate(code)]


def judged(run: Judging, given: list[Task]) -> dict[str, Marks]:
    results = [(task.key, marks) for task, marks in run(given)]
    assert sorted(key for key, _ in results) == sorted(task.key for task in given)
    return dict(results)


def test_processes_give_each_task_its_marks_once() -> None:
    given = tasks(*(f"{'right' if n % 3 else 'wrong'} = {n}" for n in range(12)))
    found = judged(LocalProcesses(2, ask), given)
    assert found == {task.key: fake_marks(task.code[0]) for task in given}


def test_a_killed_worker_loses_nothing_and_a_deadly_task_is_no_zero(tmp_path: Path) -> None:
    given = tasks(
        "right = 1", f"right = 2\n# dies unless {tmp_path / 'once'}", "wrong = 3",
        "right = 4\n# always dies", "right = 5\n# raises",
    )  # fmt: skip
    found = judged(LocalProcesses(1, ask), given)
    assert [found[f"key-{n}"].public.points for n in range(5)] == [4, 4, 0, None, None]
    assert f"died {ATTEMPTS} times" in found["key-3"].reason
    assert "no space left on device" in found["key-4"].reason


def test_a_worker_with_another_judge_refuses() -> None:
    with pytest.raises(GraderError, match="other versions"):
        judge_task(("right",), "vector_add", Terms(judge="another"))


def test_the_terms_of_a_grade_travel_to_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWISE_MODE", "all")
    monkeypatch.setenv(UNSANDBOXED, "1")
    assert (Terms().mode, Terms().unsandboxed) == ("all", True)
    keys = {judging.mark_key(["right"], "vector_add")}
    monkeypatch.setenv("TILEWISE_MODE", "interpret")
    keys.add(judging.mark_key(["right"], "vector_add"))
    monkeypatch.delenv(UNSANDBOXED)
    keys.add(judging.mark_key(["right"], "vector_add"))
    assert len(keys) == 3
    monkeypatch.setenv("TILEWISE_MODE", "tpu")
    with pytest.raises(GraderError, match="use interpret, gpu or all"):
        judging.mode()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    made = make(tmp_path_factory.mktemp("course"))
    for number in range(8):
        made.hand_in(f"s{number}", f"{'right' if number % 2 else 'wrong'} = {number}")
    return made


def graded(course: SmallCourse, run: Judging) -> dict[str, dict[str, float | None]]:
    from nbgrader.api import Gradebook

    grader = Autograder(course.folder, ASSIGNMENT)
    results = list(grader.grade(grader.students(), run, force=True))
    assert sorted(result.student for result in results) == grader.students()
    with Gradebook(grader.database) as gradebook:
        return {
            submission.student.id: {
                grade.name: grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def slow_ask(code: tuple[str, ...], exercise: str, terms: Terms) -> dict[str, Any]:
    time.sleep(0.5)  # so that a worker is at work when it is killed
    text = "\n".join(code)
    return fake_marks(text).to_json()


@pytest.mark.filterwarnings("ignore")
def test_the_gradebook_is_the_same_with_any_number_of_processes(course: SmallCourse) -> None:
    alone = graded(course, FakeJudging())
    assert graded(course, LocalProcesses(3, slow_ask)) == alone
    assert len({json.dumps(scores) for scores in alone.values()}) == 2  # right and wrong ones


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_with_a_killed_worker_gives_the_same_gradebook(course: SmallCourse) -> None:
    from distributed import Client, LocalCluster

    alone = graded(course, FakeJudging())
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))

        def run(given: Any) -> Any:
            for number, pair in enumerate(DaskCluster(cluster.scheduler_address, slow_ask)(given)):
                if number == 1:
                    os.kill(victim, signal.SIGKILL)
                yield pair

        assert graded(course, run) == alone


def test_no_scheduler_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "CONNECT_SECONDS", 0.5)
    with pytest.raises(GraderError, match="no Dask scheduler answers at"):
        list(DaskCluster("tcp://127.0.0.1:9", ask)(tasks("right")))


def ask_by_name(code: tuple[str, ...], exercise: str, terms: Terms) -> dict[str, Any]:
    """The fake judge; the code is a folder for the names of the workers that are asked."""
    from distributed import get_worker

    assert terms.mode == "all"
    (Path(code[0]) / str(get_worker().name)).touch()
    return fake_marks("right").to_json()


@contextlib.contextmanager
def cluster_of(**workers: dict[str, int]) -> Iterator[str]:
    """The address of a cluster with these workers; each declares its resources."""
    from distributed import Nanny, Scheduler, SpecCluster

    spec = {
        name: {"cls": Nanny, "options": {"nthreads": 1, "resources": resources}}
        for name, resources in workers.items()
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "port": 0}}
    with SpecCluster(spec, scheduler) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_work_for_a_gpu_goes_only_to_workers_that_declare_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWISE_MODE", "all")
    given = tasks(*[str(tmp_path)] * 6)
    with cluster_of(plain={}, gpu={"GPU": 1}) as address:
        judged(DaskCluster(address, ask_by_name), given)
        assert [path.name for path in tmp_path.iterdir()] == ["gpu"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_nobody_waits_for_workers_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "CONNECT_SECONDS", 5)
    with cluster_of() as address, pytest.raises(GraderError, match="has no workers: start some"):
        list(DaskCluster(address, ask)(tasks("right")))
    monkeypatch.setenv("TILEWISE_MODE", "gpu")
    missing = pytest.raises(GraderError, match=r"declares a GPU: start one with .* GPU=1")
    with cluster_of(plain={}) as address, missing:
        list(DaskCluster(address, ask)(tasks("right")))


class _LostAfterwards:
    """A future whose result was there, was lost with its worker, and is computed again."""

    status = "pending"

    def exception(self) -> None:
        self.status = "finished"

    def result(self) -> dict[str, Any]:
        return fake_marks("right = 1").to_json()


def test_a_result_that_is_lost_afterwards_is_waited_for() -> None:
    assert parallel._dask_marks(_LostAfterwards(), tasks("right = 1")[0]) == fake_marks("right = 1")
