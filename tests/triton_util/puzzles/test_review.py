"""review: a question that was missed in a quiz comes back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from triton_util import client
from triton_util.client import judge as judge_module
from triton_util.client.judge import JudgeProcess
from triton_util.puzzles import reviewing, schedule

FAKE = (sys.executable, "-P", str(Path(__file__).parents[1] / "client" / "fake_judge.py"))
DAY = date(2026, 3, 1)


@pytest.fixture(autouse=True)
def fake_judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JudgeProcess]:
    process = JudgeProcess(FAKE, seconds=20)
    monkeypatch.setattr(judge_module, "_shared", process)
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    go_to(monkeypatch, 0)
    yield process
    process.close()


def go_to(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    monkeypatch.setattr(schedule, "today", lambda: DAY + timedelta(day))


def letters() -> tuple[str, str]:
    """Of the one question of the fake judge: the right choice and the wrong one."""
    client.quiz("vector_add", 1, "a")
    right = not schedule.known("questions")
    return ("a", "b") if right else ("b", "a")


def test_a_missed_question_comes_back_until_it_is_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = letters()
    client.quiz("vector_add", 1, wrong)
    client.quiz("vector_add", 1, right)  # which does not take it back
    capsys.readouterr()
    client.review()
    assert "comes back on 2026-03-02" in capsys.readouterr().out
    day = 0
    for days, then in ((1, "in 3 days"), (3, "in 7 days"), (7, "in 21 days"), (21, "you have it")):
        day += days
        go_to(monkeypatch, day)
        client.review()
        assert "Why is there a `mask`?" in capsys.readouterr().out
        client.review(right)
        told = capsys.readouterr().out
        assert "✓ Right." in told
        assert then in told
    go_to(monkeypatch, day + 400)
    client.review()
    assert "No question waits." in capsys.readouterr().out


def test_missed_again_it_comes_tomorrow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, wrong = letters()
    client.quiz("vector_add", 1, wrong)
    go_to(monkeypatch, 1)
    client.review(wrong)
    told = capsys.readouterr().out
    assert "✗ Not quite." in told
    assert "tomorrow" in told
    client.review("z")
    assert "No question waits today" in capsys.readouterr().out
    go_to(monkeypatch, 2)
    client.review("z")
    assert "has the choices a, b" in capsys.readouterr().out


def test_a_question_that_is_no_more_is_left_out(
    fake_judge: JudgeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule.missed("questions", "vector_add/000000000000")
    go_to(monkeypatch, 1)
    assert schedule.due("questions")
    assert reviewing.due(fake_judge) is None


def test_the_widget_answers_by_its_button(
    fake_judge: JudgeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, wrong = letters()
    client.quiz("vector_add", 1, wrong)
    go_to(monkeypatch, 1)
    found = reviewing.due(fake_judge)
    assert found is not None
    asking = reviewing._Asking(found, fake_judge)
    asking.answer.click()
    assert "Choose one first" in asking.told.value
    assert asking.choices.value is None
    asking.choices.value = next(i for i, one in enumerate(found.question.choices) if one.right)
    assert schedule.due("questions") == [found.name]  # choosing is no answer
    asking.answer.click()
    assert "It comes back in 3 days." in asking.told.value
    assert asking.answer.disabled
    assert asking.next.disabled
