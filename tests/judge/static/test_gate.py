"""The gate *read*: no honest style is refused, every trick is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.judge.static.read_honest import HEAD, HONEST, KERNEL, LAUNCH
from tests.judge.static.read_honest_more import MORE
from tests.judge.static.read_wrong import WRONG

from graders.judge import discovery
from graders.judge.records import Case, TensorSpec
from graders.judge.report import Finding
from graders.judge.static.gate import read_gate
from graders.judge.submission.loading import from_text, load
from tests.support.exercise_records import an_exercise
from tests.support.places import RIGHT_KERNELS

EXERCISE = an_exercise()
RIGHT = RIGHT_KERNELS


def findings(snippet: str, exercise=EXERCISE) -> list[Finding]:
    return read_gate(from_text(HEAD + snippet, exercise), exercise)


def test_enough_styles_and_tricks_are_tried() -> None:
    assert len(HONEST) >= 40
    assert len(WRONG) >= 60


@pytest.mark.parametrize("style", HONEST)
def test_honest_styles_pass(style: str) -> None:
    assert findings(HONEST[style]) == []


@pytest.mark.parametrize("style", MORE)
def test_styles_as_notebooks_have_them_pass(style: str) -> None:
    assert read_gate(from_text(MORE[style], EXERCISE), EXERCISE) == []


@pytest.mark.parametrize("trick", WRONG)
def test_tricks_and_mistakes_are_named(trick: str) -> None:
    code, snippet = WRONG[trick]
    found = findings(snippet)
    assert code in {finding.code for finding in found}
    for finding in found:
        assert finding.gate == "read"
        assert finding.title
        assert finding.message


def test_the_line_is_that_of_the_mistake() -> None:
    text = f"{KERNEL}\ndef vector_add(x, y):\n    z = x + y\n{LAUNCH}"
    (finding,) = findings(text)
    assert (HEAD + text).split("\n")[finding.line - 1].strip() == "z = x + y"
    assert "`x + y`" in finding.message


def test_a_forbidden_call_is_a_finding_only_where_it_is_forbidden() -> None:
    text = f"{KERNEL}\ndef vector_add(x, y):\n    x = x.contiguous()\n{LAUNCH}"
    strict = replace(EXERCISE, forbidden_calls=frozenset({"contiguous"}))
    assert findings(text) == []
    assert [finding.code for finding in findings(text, strict)] == ["torch-computes"]


def test_scalar_arguments_are_free_to_compute_with() -> None:
    case = Case("c", (TensorSpec((7,)), 3.0))
    exercise = an_exercise(cases=(case,))
    text = f"{KERNEL}\ndef vector_add(x, y):\n    y = -y * 2 + 1\n{LAUNCH}"
    assert findings(text, exercise) == []
    assert findings(text) != []


@pytest.mark.parametrize(
    "path", sorted(RIGHT.glob("*/*.py")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_right_kernels_of_the_course_pass(path: Path) -> None:
    exercise = discovery.exercise(path.parent.name)
    assert read_gate(load(path, exercise), exercise) == []


def test_helpers_without_end_are_bounded() -> None:
    """Each of twelve helpers calls the next one in thirty ways: 30 ** 12 calls if followed."""
    calls = "".join(f"    f{{0}}(({'a, ' * n}))\n" for n in range(1, 31))
    helpers = "".join(f"def f{n}(a):\n{calls.replace('{0}', str(n + 1))}" for n in range(12))
    text = f"{KERNEL}\n{helpers}def f12(a):\n    pass\ndef vector_add(x, y):\n    f0(x)\n{LAUNCH}"
    assert {finding.code for finding in findings(text)} == {"not-triton"}


def test_code_that_python_refuses_later_does_not_stop_the_judge() -> None:
    body = "    z = (x, y)[{[]: 1}]\n    w = (x, y)[-'a']\n"
    text = f"{KERNEL}\ndef vector_add(x, y):\n{body}{LAUNCH}"
    assert findings(text) == []


def test_one_mistake_is_told_once() -> None:
    text = f"{KERNEL}\ndef vector_add(x, y):\n    z = (x + y) * (x - y) + torch.exp(x)\n{LAUNCH}"
    assert len(findings(text)) == 1
