"""The gate *read*, as far as the text alone tells: stubs, and kernels that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from graders.judge import discovery
from graders.judge.static import kernel
from graders.judge.submission.loading import from_text, load
from tests.judge.launch_trace.honest_styles import HEAD, HONEST
from tests.judge.launch_trace.notebook_styles import MORE
from tests.judge.launch_trace.refused import WRONG
from tests.support.exercise_records import an_exercise
from tests.support.paths import ROOT
from triton_util.report import Finding

EXERCISE = an_exercise()
BY_TEXT = [
    "launches-a-plain-function",
    "launcher-is-the-kernel",
    "launcher-stub",
    "kernel-stub",
    "kernel-stub-with-given-lines",
    "launcher-stub-with-given-lines",
]


def findings(text: str) -> list[Finding]:
    return list(from_text(text, EXERCISE).findings)


@pytest.mark.parametrize("name", BY_TEXT)
def test_what_the_text_shows_is_told_before_anything_runs(name: str) -> None:
    code, text = WRONG[name]
    (finding,) = findings(HEAD + text)
    assert finding.code == code
    assert finding.line is not None
    assert finding.next_step


@pytest.mark.parametrize("name", sorted(WRONG.keys() - set(BY_TEXT)))
def test_everything_else_is_seen_and_not_read(name: str) -> None:
    assert findings(HEAD + WRONG[name][1]) == []


def test_honest_styles_pass() -> None:
    for text in [*(HEAD + text for text in HONEST.values()), *MORE.values()]:
        assert findings(text) == []


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "tests/course").glob("*/*/correct/*.py")),
    ids=lambda path: f"{path.parent.parent.name}-{path.stem}",
)
def test_right_kernels_of_the_course_pass(path: Path) -> None:
    exercise = discovery.exercise(path.parent.parent.name)
    assert load(path, exercise).findings == ()


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("triton_util.get_1d_mask", True),
        ("triton_util.indexing.get_1d_mask", True),
        ("triton_util.launching.cdiv", True),
        ("triton_util.bench.cdiv", False),
        ("triton_util.indexing.tl.cdiv", False),
        ("triton_util.explain.launches.cdiv", False),
    ],
)
def test_a_helper_of_the_course_is_known_by_its_module_and_name(path: str, known: bool) -> None:
    assert kernel.is_foreign({"library": path.rsplit(".", 1)}) is not known
