"""When something comes back, and that it does so after a restart, too."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from triton_util.puzzles import schedule

START = date(2026, 2, 27)


class Calendar:
    today = START

    def pass_days(self, days: int) -> None:
        self.today += timedelta(days)


@pytest.fixture(autouse=True)
def calendar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Calendar:
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    found = Calendar()
    monkeypatch.setattr(schedule, "today", lambda: found.today)
    return found


def days_until_due(calendar: Calendar) -> int:
    """How long nothing is due, from today."""
    for days in range(30):
        if schedule.due("questions"):
            return days
        calendar.pass_days(1)
    return -1


def test_what_was_missed_comes_back_after_1_3_7_and_21_days(calendar: Calendar) -> None:
    schedule.missed("questions", "one")
    waited = []
    for _ in range(4):
        waited.append(days_until_due(calendar))
        schedule.held("questions", "one")
    assert waited == [1, 3, 7, 21]
    assert days_until_due(calendar) == -1
    assert "one" in schedule.known("questions")


def test_what_is_missed_again_starts_again(calendar: Calendar) -> None:
    schedule.missed("questions", "one")
    calendar.pass_days(1)
    schedule.held("questions", "one")
    calendar.pass_days(3)
    schedule.missed("questions", "one")
    assert days_until_due(calendar) == 1


def test_the_longest_waiting_comes_first(calendar: Calendar) -> None:
    schedule.missed("questions", "b")
    calendar.pass_days(1)
    schedule.missed("questions", "a")
    calendar.pass_days(5)
    assert schedule.due("questions") == ["b", "a"]
    assert schedule.due("puzzles") == []


def test_dates_outlive_the_process(tmp_path: Path) -> None:
    schedule.missed("questions", "one")
    program = (
        "from datetime import date; from triton_util.puzzles import schedule;"
        "schedule.today = lambda: date(2026, 2, 28); print(schedule.due('questions'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "['one']", done.stderr


@pytest.mark.parametrize("content", ["[broken", "{}", '{"questions": {"one": [1], "two": {}}}'])
def test_a_damaged_file_is_forgotten(tmp_path: Path, content: str) -> None:
    (tmp_path / "remembered.json").write_text(content)
    assert schedule.due("questions") == []
    schedule.held("questions", "one")
    assert schedule.waiting("questions")["one"] == START + timedelta(3)


def test_when_it_comes_back_is_told() -> None:
    assert schedule.told(START + timedelta(1)) == "It comes back tomorrow."
    assert schedule.told(START + timedelta(7)) == "It comes back in 7 days."
    assert schedule.told(None) == "It does not come back: you have it."
