"""Every attack against the whole judge: no attack scores, takes anything or leaves anything.

Where there is a GPU, what passes the interpreter goes on to the GPU's workers.
"""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Iterator
from functools import partial

import pytest
import torch

from graders.judge import discovery, runtime
from graders.judge.compiling.gate import CompileWorker
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise
from graders.judge.running import interpret, jobs
from graders.judge.runtime import Mode
from graders.judge.sandbox.pool import Workers
from graders.judge.scoring import WASTEFUL_SHARE
from tests.attacks.attack import honest
from tests.attacks.bait import Bait
from tests.attacks.catalogue import ATTACKS
from triton_util.report import GateStatus, Report, Verdict

# An endless loop costs its time limit in each of the running gates, more on a busy machine.
LONGEST_SECONDS = 240.0
LONGEST_REPORT = 100_000


@pytest.fixture(scope="module")
def bait() -> Iterator[Bait]:
    with Bait() as planted:
        yield planted


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    return discovery.exercises()["vector_add"]


@pytest.fixture(scope="module")
def judge(bait: Bait, exercise: Exercise) -> Iterator[Judge]:
    with Workers() as workers:
        if workers.tier != "A":
            pytest.skip(f"no tier A here: {workers.layers}")
    mode: Mode = "all" if torch.cuda.is_available() else "interpret"
    with Judge(mode, official=True) as running, pytest.MonkeyPatch.context() as patch:
        # The usual limits, 10 s for a case and 40 s for compiling, are too long to wait for here.
        patch.setattr(jobs, "CASE_SECONDS", 1.0)
        patch.setattr(jobs, "LARGE_CASE_SECONDS", 1.0)
        patch.setattr(interpret, "GPU_CASE_SECONDS", 5.0)
        patch.setattr(runtime, "CompileWorker", partial(CompileWorker, cpu_seconds=3.0))
        control = running.judge_text(honest(), exercise)
        if control.verdict is not Verdict.PASSED:
            pytest.fail(f"vacuous: the honest control does not pass: {control.findings}")
        yield running


def everything_said(report: Report) -> str:
    """All words of a report."""
    return json.dumps(report.to_json(), ensure_ascii=False)


@pytest.mark.drawn("graders/judge", "tests/attacks")
@pytest.mark.parametrize("name", ATTACKS)
def test_the_judge_holds(judge: Judge, bait: Bait, exercise: Exercise, name: str) -> None:
    attack = ATTACKS[name]
    bait.reset()
    warm = judge.runtime.workers("cpu").pid
    assert warm is not None
    started = time.monotonic()
    report = judge.judge_text(bait.source(attack), exercise)
    assert time.monotonic() - started < LONGEST_SECONDS
    said = everything_said(report)
    assert bait.evidence(said, warm) == set()
    assert judge.runtime.workers("cpu").pid == warm
    assert len(said) < LONGEST_REPORT
    assert not [c for c in said if unicodedata.category(c) in ("Cc", "Cf", "Cs")]
    if report.verdict is Verdict.PASSED:
        assert attack.may_pass, "the attack passed"
        return
    assert report.verdict is Verdict.FAILED, [f.message for f in report.findings]
    wasteful = attack.may_pass and report.gates["traffic"] is GateStatus.FAILED
    assert report.points == (WASTEFUL_SHARE * exercise.max_points if wasteful else 0)
    assert report.findings, "a refusal must say why"
    assert all(finding.message for finding in report.findings)


def test_the_honest_control_still_passes_after_all_of_them(
    judge: Judge, exercise: Exercise
) -> None:
    report = judge.judge_text(honest(), exercise)
    assert report.verdict is Verdict.PASSED
    assert report.points == exercise.max_points
    assert report.sandbox == "A"
