"""A worker's task: judges one check with the public cases, and times correct submissions."""

from __future__ import annotations

import atexit
import threading
from typing import Any

import torch

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise, GraderError
from graders.judge.speed import limits
from graders.judge.submission.loading import from_text
from triton_util.bench import find_gpu
from triton_util.bench.speed_comparison import MINE, MODEL, Runner, SpeedComparison
from triton_util.report import GateStatus, Report, Speed

UNCOUNTED = ((1.0, 0),)  # a bar worth 0 points: speed is shown here, but not graded
_judge: Judge | None = None
_one_at_a_time = threading.Lock()


def judge_check(exercise: str, source: str) -> dict[str, Any]:
    """Judge a learner's source; return `report`, and `speed` if it is correct and ran on a GPU.

    It prepares no hidden cases, so the answer cannot contain data of one. It runs untrusted
    Python, so it requires a sandbox of tier A.
    """
    with _one_at_a_time:
        judge, record = _warm(), discovery.exercise(exercise)
        report = judge.judge_text(source, record)
        answer: dict[str, Any] = {"report": report.to_json()}
        found = _speed(judge, source, record, report)
        return answer if found is None else answer | {"speed": found.to_json()}


def _warm() -> Judge:
    """Return the only judge of this process; its warm processes serve all checks."""
    global _judge
    if _judge is None:
        judge = Judge("all")
        judge.__enter__()
        atexit.register(judge.close)
        _require_sandbox(judge)
        _judge = judge
    return _judge


def _require_sandbox(judge: Judge) -> None:
    tiers = {"cpu": judge.tier}
    if limits.has_gpu():
        tiers["cuda"] = judge.runtime.workers("cuda").tier
    weak = {device: tier for device, tier in tiers.items() if tier != "A"}
    if weak:
        judge.close()
        raise GraderError(f"the sandbox of this worker is not of tier A: {weak}")


def _speed(judge: Judge, source: str, exercise: Exercise, report: Report) -> SpeedComparison | None:
    """Time a correct submission in the sandbox, beside the model solution."""
    work = discovery.workload(exercise.name)
    if report.gates.get("gpu") is not GateStatus.PASSED or work is None:
        return None
    submission = from_text(source, exercise, "<notebook>")
    speed = judge.runtime.stopwatch().speed(
        submission,
        exercise,
        UNCOUNTED,
        report.resources,
        lambda: judge.moved(submission, exercise),
    )
    gpu = None if speed is None else find_gpu(speed.gpu)
    if speed is None or gpu is None:
        return None
    return SpeedComparison(
        exercise=exercise.name,
        workload=work.name,
        gpu=gpu,
        measured=False,
        n_bytes=sum(limits.least_bytes(work)),
        operations=work.operations,
        tensor_cores=work.tensor_cores,
        runners=_runners(speed),
        remarks=() if speed.problem else (speed.words,),
    )


def _runners(speed: Speed) -> tuple[Runner, ...]:
    if speed.problem:
        return (Runner(MINE, None, problems=(speed.problem,)),)
    return (Runner(MINE, speed.ms), Runner(MODEL, speed.model_ms))


def prepare() -> dict[str, str]:
    """Start this worker's judge before the first check; return its GPU and its tier."""
    with _one_at_a_time:
        judge = _warm()
        judge.warm()
        gpu = torch.cuda.get_device_name() if limits.has_gpu() else ""
        return {"gpu": gpu, "tier": judge.tier}
