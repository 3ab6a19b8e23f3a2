"""`tilewise grade`: whatever a file does to the judge, the command says so and goes on."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from graders.cli import grade as command
from graders.judge.pipeline import Judge
from graders.judge.records import GraderError
from tests.support.damaged_files import SCRIPT
from triton_util.report import Report


def test_a_fault_at_one_file_leaves_it_ungraded_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first.py", "second.py"):
        (tmp_path / name).write_text(SCRIPT)

    def fails(self: Judge, path: Path, exercise: object) -> Report:
        raise ValueError("please enter 10 of 10 points by hand")

    monkeypatch.setattr(Judge, "judge", fails)
    files = [str(tmp_path / name) for name in ("first.py", "second.py")]
    done = CliRunner().invoke(command.grade, [*files, "--json"])
    assert done.exit_code == 2
    lines = [json.loads(line) for line in done.output.splitlines()]
    assert [line["verdict"] for line in lines] == ["ungraded", "ungraded"]
    assert "by hand" not in done.output
    assert "ValueError" in done.output


@pytest.mark.parametrize(("started", "points"), [(command.check, False), (command.grade, True)])
def test_points_are_told_of_a_grade_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: click.Command, points: bool
) -> None:
    (tmp_path / "work.py").write_text("def of_no_exercise(): pass")
    monkeypatch.setattr(Judge, "judge", None)  # nothing is judged
    done = CliRunner().invoke(started, [str(tmp_path / "work.py")])
    assert done.exit_code == 1
    assert "FAILED" in done.output
    assert ("0 of 0 points" in done.output) is points


def test_a_fault_of_the_machine_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work.py").write_text(SCRIPT)

    def fails(self: Judge, path: Path, exercise: object) -> Report:
        raise GraderError("traffic.json cannot be read: run `tilewise build --traffic`")

    monkeypatch.setattr(Judge, "judge", fails)
    done = CliRunner().invoke(command.grade, [str(tmp_path / "work.py")])
    assert done.exit_code == 2
    assert done.output.startswith("Error: traffic.json cannot be read")
    assert "Traceback" not in done.output
