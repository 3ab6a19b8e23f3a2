"""predict, answer and catch: what is asked first, what is shown, and what is kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from triton_util import client
from triton_util.client import guesses
from triton_util.client import judge as judge_module
from triton_util.client.judge import JudgeProcess

FAKE = (sys.executable, "-P", str(Path(__file__).with_name("fake_judge.py")))
OWN = "word " * 25


@pytest.fixture(autouse=True)
def fake_judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JudgeProcess]:
    process = JudgeProcess(FAKE, seconds=20)
    monkeypatch.setattr(judge_module, "_shared", process)
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    yield process
    process.close()


def test_without_a_guess_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    for guess in (None, "many", True):
        client.predict("lanes", guess)  # type: ignore[arg-type]
        told = capsys.readouterr().out
        assert "Put your guess in place of `None`" in told
        assert "24" not in told
    assert guesses.load()["predictions"] == {}


def test_a_guess_is_set_beside_what_is_so_and_the_first_one_is_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    client.predict("lanes", 12)
    told = capsys.readouterr().out
    assert "You predicted 12. It is 24 lanes. Your guess was 2 times too low." in told
    assert "Because of the mask." in told
    client.predict("lanes", 24)
    told = capsys.readouterr().out
    assert "You had it." in told
    assert "(Your first guess, 12, is the one that is kept.)" in told
    client.progress()
    assert "1 prediction: 0 right, 0 close, 1 further off." in (capsys.readouterr().out)


def test_a_row_is_no_quantity(capsys: pytest.CaptureFixture[str]) -> None:
    client.predict("row", 7)
    told = capsys.readouterr().out
    assert "You predicted 7. It is 2." in told
    assert "times too" not in told


def test_an_unknown_prediction_is_one_card(capsys: pytest.CaptureFixture[str]) -> None:
    client.predict("rwo", 7)
    told = capsys.readouterr().out
    assert told == "? There is no prediction 'rwo'. Did you mean 'row'?\n"


@pytest.mark.parametrize(
    ("guess", "answer", "within", "grade"),
    [
        (100, 100, None, "right"),
        (8, 4, None, "far"),  # a count that can be known is not nearly right
        (40_000, 40_020, None, "close"),
        (101, 100, None, "close"),
        (111, 100, None, "far"),
        (101, 100, 1.05, "right"),
        (60, 100, 1.05, "close"),
        (201, 100, 1.05, "far"),
        (0.665, 2 / 3, None, "right"),
        (1.0, 2 / 3, None, "close"),
        (2.0, 2 / 3, None, "far"),
        (-100, 100, None, "far"),
        (0, 0, None, "right"),
        (1, 0, None, "far"),
        (float("nan"), float("nan"), None, "right"),
        (float("nan"), 3, None, "far"),
        (float("inf"), 3, None, "far"),
    ],
)
def test_grades_of_a_guess(guess: float, answer: float, within: float | None, grade: str) -> None:
    assert guesses.grade(guess, answer, within) == grade


def notebook(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, graded: bool) -> None:
    metadata = {"nbgrader": {"grade": True}} if graded else {}
    cell = {"id": "crisis", "cell_type": "markdown", "source": [source], "metadata": metadata}
    path = folder / "lesson.ipynb"
    path.write_text(json.dumps({"cells": [cell]}))
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))


@pytest.mark.parametrize(
    ("source", "graded", "shown"),
    [
        ("YOUR ANSWER HERE", False, "First write your own answer"),
        ("YOUR ANSWER HERE no idea", False, "First write your own answer"),
        (OWN, False, "The model answer."),
        (OWN, True, "a person reads this answer"),
    ],
    ids=["untouched", "too short", "written", "graded in a class"],
)
def test_the_model_answer_comes_after_the_own(
    source: str,
    graded: bool,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    notebook(tmp_path, monkeypatch, source, graded)
    client.answer("crisis")
    told = capsys.readouterr().out
    assert shown in told
    assert ("The model answer." in told) == (shown == "The model answer.")
    assert bool(guesses.load()["answers"]) == (shown == "The model answer.")


def test_where_the_notebook_is_not_found_the_answer_is_given_as_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    client.answer("crisis")
    assert 'answer("crisis", """your answer""")' in capsys.readouterr().out
    client.answer("crisis", OWN)
    assert "The model answer." in capsys.readouterr().out
    client.progress()
    assert "1 case study answered." in capsys.readouterr().out


def broken(x: torch.Tensor) -> torch.Tensor:
    return x.clone() if x.numel() <= 2 else x * 0


def half_mended(x: torch.Tensor) -> torch.Tensor:
    print("a line from the kernel")
    return x.clone() if x.numel() != 5 else x * 0


def raising(x: torch.Tensor) -> torch.Tensor:
    raise ValueError(f"outside, {x.numel()} elements")


def test_a_bug_is_missed_caught_and_mended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    others = [(torch.arange(n),) for n in (4, 5)]
    client.catch("bug", broken, None, right=torch.clone)
    assert "First an input" in capsys.readouterr().out
    client.catch("bug", broken, torch.tensor([1, 2]), right=torch.clone, others=others)
    assert "Missed" in capsys.readouterr().out
    caught = torch.tensor([1, 2, 3])
    client.catch("bug", broken, caught, right=torch.clone, others=others)
    told = capsys.readouterr().out
    assert "Caught. For `[1, 2, 3]` it gave `[0, 0, 0]`, and `[1, 2, 3]` is right." in told
    client.catch("bug", half_mended, caught, right=torch.clone, others=others)
    told = capsys.readouterr().out
    assert "Fixed for this input, not for all. For `[0, 1, 2, 3, 4]`" in told
    assert told.count("a line from the kernel") == 1
    assert guesses.load()["bugs"] == {"bug": "caught"}
    client.catch("bug", torch.clone, caught, right=torch.clone, others=others)
    assert "✓ Fixed" in capsys.readouterr().out
    assert guesses.load()["bugs"] == {"bug": "mended"}


def test_a_launch_that_is_stopped_is_caught(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    client.catch("bug", raising, torch.zeros(3), right=torch.clone)
    assert "outside, 3 elements" in capsys.readouterr().out


def test_a_damaged_file_is_an_empty_one(tmp_path: Path) -> None:
    guesses.keep("answers", "one", True)
    (path,) = (tmp_path / "home").glob("guesses.json")
    path.write_text("[7")
    assert guesses.load() == {"predictions": {}, "bugs": {}, "answers": {}}
