"""`tilewise bench` and `speed()`: what they say with a GPU (a fake one) and without."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from graders.cli import bench as command
from graders.cli.reports import panel
from graders.judge import discovery
from graders.judge.records import GraderError
from graders.judge.speed import limits
from tests.support.paths import ROOMS
from tests.support.speed_comparisons import h200, runner, softmax_comparison
from triton_util.bench.speed_comparison import MINE, SpeedComparison
from triton_util.client import timing
from triton_util.notebook.session import Session
from triton_util.report import GateStatus, Report, Speed, Verdict

SOLUTION = discovery.ROOT / "solutions" / "reductions.py"
RIGHT = ROOMS.kernels("vector_add") / "correct" / "textbook.py"
WRONG = next((ROOMS.kernels("vector_add") / "wrong").glob("*.py"))


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path / "home"))


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "has_gpu", lambda: False)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A GPU that answers at once; the requests that it gets."""
    requests: list[dict[str, Any]] = []

    def compare_speed(exercise: Any, folder: Path, **options: Any) -> SpeedComparison:
        requests.append({"exercise": exercise.name, **options})
        return softmax_comparison()

    monkeypatch.setattr(limits, "has_gpu", lambda: True)
    monkeypatch.setattr(limits, "compare_speed", compare_speed)
    monkeypatch.setattr(limits, "compiler_remarks", lambda *args: ("Its loads are narrow.",))
    return requests


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command.bench, arguments, env={"COLUMNS": "120"})


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_limits_are_told_and_no_speed(tmp_path: Path) -> None:
    done = run("softmax", "copy", "--output", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert done.output.count("There is no GPU here, so speed cannot be measured.") == 2
    assert "GB/s" not in done.output
    assert "model solution" not in done.output
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert made == {"index.html", "softmax.png", "softmax.txt", "copy.png", "copy.txt"}


@pytest.mark.usefixtures("no_gpu")
def test_a_file_is_checked_first(tmp_path: Path) -> None:
    right = run(str(RIGHT))
    assert right.exit_code == 0
    assert "times the bytes of the model solution" in " ".join(right.output.split())
    wrong = run(str(WRONG))
    assert wrong.exit_code == 1
    assert "Only the speed of a correct kernel means anything" in wrong.output


@pytest.mark.usefixtures("no_gpu")
def test_bad_arguments_are_one_clear_line() -> None:
    for arguments, word in (
        (("softmaxx",), "Did you mean 'softmax'"),
        (("nowhere.py",), "there is no file nowhere.py"),
        (("--measure",), "--measure needs one"),
        ((str(SOLUTION), "--exercise", "nothing"), "there is no exercise 'nothing'"),
    ):
        done = run(*arguments)
        assert done.exit_code != 0
        assert word in done.output
        assert "Traceback" not in done.output
    assert "too small a thing" in run("swizzle_ids").output


def test_on_a_gpu_the_table_and_the_pictures_are_those_of_the_run(
    asked: list[dict[str, Any]], tmp_path: Path
) -> None:
    done = run("softmax", "--no-compile", "--seconds", "2", "--output", str(tmp_path))
    assert done.exit_code == 0
    assert "0.50 of the model solution's speed" in done.output
    assert "What may help: Its loads are narrow." in done.output
    assert asked[0]["source"] is None, "only the model solution is timed"
    assert (asked[0]["seconds"], asked[0]["compiled_too"]) == (2.0, False)
    assert "43 % of the limit" in (tmp_path / "index.html").read_text()
    assert "43 % of the limit" in (tmp_path / "softmax.txt").read_text()


def test_what_could_not_be_timed_is_said_and_fails(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **options: Any) -> SpeedComparison:
        raise GraderError("timing did not come to an end within 9 s")

    monkeypatch.setattr(limits, "compare_speed", broken)
    done = run("softmax")
    assert done.exit_code == 1
    assert "softmax was not timed: timing did not come to an end" in done.output


def test_a_learners_installation_asks_for_a_file(
    monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]
) -> None:
    monkeypatch.setattr(discovery, "model_path", lambda exercise: None)
    assert "give a file with your softmax" in run("softmax").output
    assert "there are no model solutions here" in run().output
    assert asked == []


def test_the_measured_gpu_is_told(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "measure_gpu", lambda folder: ("NVIDIA H200", h200()))
    done = run("--measure")
    assert done.exit_code == 0
    assert "NVIDIA H200: 4,800 GB/s copied" in done.output


def test_the_timing_process_says_in_one_line_what_it_cannot_do() -> None:
    """Without a GPU the process itself refuses; it must neither hang nor print a traceback."""
    request = {"measure": True, "folder": "."}
    done = subprocess.run(
        [sys.executable, "-m", "graders.judge.speed.measuring"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        env={**limits._environment(), "CUDA_VISIBLE_DEVICES": ""},
        check=False,
    )
    answer = json.loads(done.stdout)
    assert not answer["ok"]
    assert "there is no CUDA GPU here" in answer["error"]


class FakeJudge:
    """Answers a request for speed."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] == "exercises":
            listed = {"name": "softmax", "lesson": "reductions", "title": "Softmax", "number": "07"}
            return {"ok": True, "exercises": [listed]}
        self.asked.append(request)
        return self.answer


def softmax(x: Any) -> Any:
    return x


def test_speed_shows_the_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    judge = FakeJudge({"ok": True, "comparison": softmax_comparison(runner(MINE, 0.13)).to_json()})
    timing.speed(softmax, Session(globals(), ()), judge, quick=True)  # type: ignore[arg-type]
    assert "softmax: 43 % of the limit" in capsys.readouterr().out
    assert judge.asked[0]["op"] == "speed"
    assert "def softmax(x" in judge.asked[0]["source"]
    assert judge.asked[0]["compiled"] is False


def test_speed_without_a_gpu_is_labelled_as_modelled(capsys: pytest.CaptureFixture[str]) -> None:
    modelled = limits.modelled(discovery.exercise("softmax"), discovery.workload("softmax"))  # type: ignore[arg-type]
    judge = FakeJudge({"ok": True, "modelled": vars(modelled)})
    timing.speed(softmax, Session(globals(), ()), judge)  # type: ignore[arg-type]
    told = capsys.readouterr().out
    assert "speed cannot be measured" in told
    assert "nothing about how fast" in told


@pytest.mark.parametrize("given", ["no_such_thing", 5, softmax_comparison])
def test_speed_of_what_is_no_exercise_is_a_finding(
    given: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = FakeJudge({"ok": True})
    timing.speed(given, Session(globals(), ()), judge)  # type: ignore[arg-type]
    assert judge.asked == []
    assert "✗" in capsys.readouterr().out


def test_a_report_tells_speed_and_bonus_beside_the_points() -> None:
    fast = Speed("16384×4096", "H200", 0.13, 0.065, 0.5, 1, 2, "0.50 of the model's speed.")
    gates = dict.fromkeys(("read", "compile", "interpret", "traffic", "gpu"), GateStatus.PASSED)
    report = Report("x.py", "softmax", Verdict.PASSED, 10, 10, gates, (), "A", 1.0, speed=fast)
    console = Console(width=90, record=True, file=io.StringIO())
    console.print(panel(report))
    shown = console.export_text()
    assert "10 of 10 points + 1 for speed" in shown
    assert "0.50 of the model's speed. 1 of 2 bonus" in " ".join(shown.replace("│", "").split())
    line = report.to_line()
    assert (line["points"], line["max_points"], line["speed"]["bonus"]) == (10, 10, 1)
