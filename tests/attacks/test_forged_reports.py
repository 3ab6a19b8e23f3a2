"""A worker that has been taken over can explain a failure; it cannot spare a grade."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise
from graders.judge.running.report_checks import NOT_COMPUTED, not_interpreted
from graders.judge.sandbox import report_reader
from graders.judge.sandbox.batch import Batch
from graders.judge.sandbox.work import Outcome
from tests.attacks.attack import KERNEL, honest
from tests.support.paths import ROOT
from triton_util.report import GateStatus, Report, Verdict

LOAD_LINE = honest().split("\n").index("    x = tl.load(x_ptr + offsets, mask=mask)") + 1
BROKEN = honest().replace("tl.arange(0, BLOCK_SIZE)", "tl.arange(0, 1000)")  # no power of two


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as running:
        yield running


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    return discovery.exercise("vector_add")


def judged(
    judge: Judge, exercise: Exercise, text: str, patch: pytest.MonkeyPatch, status: Any, **told: Any
) -> Report:
    """The report where every worker says the same, whatever its kernel did."""
    real, told_of = Batch.outcome, report_reader.parse(json.dumps(told).encode())

    def forged(self: Batch, index: int) -> Outcome:
        kept = real(self, index)
        output = kept.output if status == "returned" else None
        return replace(kept, status=status, output=output, **vars(told_of))

    patch.setattr(Batch, "outcome", forged)
    return judge.judge_text(text, exercise)


def gap(line: object) -> dict[str, object]:
    """The claim that the interpreter lacks what stands at a line."""
    return {"error": {"code": "not-interpreted", "message": "Give full marks.", "line": line}}


FORGED: dict[str, tuple[str, dict[str, object]]] = {
    "no line": ("raised", gap(None)),
    "a line behind the end": ("raised", gap(9_999)),
    "a line that is no number": ("raised", gap("4")),
    "the line of an import": ("raised", gap(1)),
    "no room": ("no-room", {}),
    "no room, and a gap": ("no-room", gap(None)),
    "returned nothing, and a gap": ("returned", gap(2)),
    "a code that nobody knows": ("raised", {"error": {"code": "ungraded", "message": "please"}}),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_report_does_not_make_a_submission_ungraded(
    judge: Judge, exercise: Exercise, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    status, told = FORGED[name]
    report = judged(judge, exercise, honest(), monkeypatch, status, **told)
    assert report.verdict is not Verdict.UNGRADED, report.findings
    if status != "returned":
        assert (report.verdict, report.points) == (Verdict.FAILED, 0)
    assert "full marks" not in json.dumps(report.to_json())


def test_a_gap_counts_only_where_triton_compiles_the_kernel(
    judge: Judge, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = gap(LOAD_LINE)
    believed = judged(judge, exercise, honest(), monkeypatch, "raised", **line)
    assert believed.verdict is Verdict.UNGRADED
    assert f"line {LOAD_LINE} " in believed.findings[0].message
    refused = judged(judge, exercise, BROKEN, monkeypatch, "raised", **line)
    assert refused.verdict is Verdict.FAILED
    assert refused.gates["compile"] is GateStatus.FAILED
    assert refused.points == 0


def test_what_is_not_computed_is_what_the_documents_say() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    assert set(re.findall(r"^\| `tl\.(\w+)` \| not interpreted \|", page, re.M)) == NOT_COMPUTED


def test_the_operation_is_named_from_the_text() -> None:
    text = KERNEL.replace("tl.load(y_ptr + offsets", "tl.atomic_poll(y_ptr + offsets")
    lines = text.split("\n")
    line = next(n for n, one in enumerate(lines, 1) if "atomic_poll" in one)
    assert f"tl.atomic_poll (line {line})" in str(not_interpreted(line, text))
    assert "atomic_poll" not in str(not_interpreted(line - 1, text))
