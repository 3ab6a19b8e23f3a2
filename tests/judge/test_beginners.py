"""What beginners write comes back with a message that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.authoring.lesson import read_solutions
from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.report import Verdict
from tests.judge.beginners import ATTEMPTS

pytestmark = pytest.mark.slow
SOLUTIONS = Path(__file__).parents[2] / "solutions"
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
CASES = [(exercise, name) for exercise, attempts in ATTEMPTS.items() for name in attempts]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as made:
        yield made


@pytest.mark.parametrize(("exercise", "name"), CASES)
def test_the_message_says_what_is_wrong(judge: Judge, exercise: str, name: str) -> None:
    record = discovery.exercise(exercise)
    right = read_solutions(SOLUTIONS / f"{record.lesson}.py")[exercise]
    old, new, words = ATTEMPTS[exercise][name]
    assert old in right
    report = judge.judge_text(IMPORTS + right.replace(old, new), record, f"<{name}>")
    assert report.verdict is Verdict.FAILED
    first = report.findings[0]
    said = " ".join(f"{first.title}. {first.message} {first.next_step}".replace("`", "").split())
    assert words in said
