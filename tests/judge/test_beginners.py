"""What beginners write comes back with a message that says what is wrong.

The attempts are known kernels: tests/support/drawn.py says which of them a run judges.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.authoring.lesson import read_solutions
from graders.judge import discovery
from graders.judge.pipeline import Judge
from tests.judge.beginners import (
    bias_relu,
    copy,
    relu2d,
    rgb2grey,
    strided_copy,
    transpose,
    vector_add,
)
from tests.support.known_kernels import IMPORTS, ROOMS
from triton_util.report import Finding, Verdict

ATTEMPTS = {
    "vector_add": vector_add.ATTEMPTS,
    "copy": copy.ATTEMPTS,
    "relu2d": relu2d.ATTEMPTS,
    "strided_copy": strided_copy.ATTEMPTS,
    "transpose": transpose.ATTEMPTS,
    "rgb2grey": rgb2grey.ATTEMPTS,
    "bias_relu": bias_relu.ATTEMPTS,
}
CASES = {
    f"{discovery.exercise(exercise).lesson}/{exercise}/{name}": (exercise, name)
    for exercise, attempts in ATTEMPTS.items()
    for name in attempts
}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as made:
        yield made


def said(found: Finding) -> str:
    """What the learner reads, without the marks of Markdown."""
    return " ".join(f"{found.title}. {found.message} {found.next_step}".replace("`", "").split())


@pytest.mark.parametrize(("exercise", "name"), CASES.values(), ids=CASES)
def test_the_message_says_what_is_wrong(judge: Judge, exercise: str, name: str) -> None:
    record = discovery.exercise(exercise)
    right = read_solutions(ROOMS.solutions / f"{record.lesson}.py")[exercise]
    attempt = ATTEMPTS[exercise][name]
    report = judge.judge_text(IMPORTS + attempt.written(right), record, f"<{name}>")
    assert report.verdict is Verdict.FAILED, report.findings
    first = report.findings[0]
    assert (first.code, attempt.words in said(first)) == (attempt.code, True), said(first)


@pytest.mark.parametrize("exercise", ATTEMPTS)
def test_each_exercise_has_ten_attempts_or_more(exercise: str) -> None:
    assert len(ATTEMPTS[exercise]) >= 10
