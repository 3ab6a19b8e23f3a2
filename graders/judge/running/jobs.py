"""Make the workers' jobs for a launch plan, and the outcomes that need no run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch

from graders.judge.bounds import text as plain_text
from graders.judge.cases.compare import Expectation
from graders.judge.cases.prepared import Prepared
from graders.judge.compiling import variants
from graders.judge.diagnosis.raised import LAUNCHER
from graders.judge.launch_trace.gate import FILENAME, Captured
from graders.judge.plan.memory import made, taken_over, target
from graders.judge.plan.steps import (
    CasePlan,
    Kernel,
    LaunchPlan,
    Raised,
    TensorRef,
    Value,
    items_of,
    kernels_to_json,
    launches_of,
    ref_of,
    steps_to_text,
)
from graders.judge.records import Fault
from graders.judge.sandbox import protocol
from graders.judge.sandbox.pool import NO_STEPS, Job, Outcome, Work, Workers
from triton_util.interpreter.messages.translation import translate

CASE_SECONDS = 10.0  # of processor time
LARGE_CASE, LARGE_CASE_SECONDS = 100_000, 30.0  # elements; some processors are a third as fast
_ENDINGS: dict[str, protocol.Status] = {
    "timeout": "timeout",
    "asleep": "asleep",
    "out-of-memory": "out-of-memory",
    "exited": "exited",
}
MOST_TEXT = 2_000  # characters of an error


class PlannedJobs:
    """Makes the jobs of one submission; `source` is the text that contains its kernels."""

    def __init__(self, source: str, captured: Captured) -> None:
        self.source = source
        self._captured = captured
        self._kernels = kernels_to_json(captured.plan.kernels)
        # Storages that a case uses although the module or an earlier case made them.
        self._needs = {id(case): taken_over(case) for case in captured.plan.cases}
        self._kept = tuple(sorted(set().union(*self._needs.values())))
        self._texts: dict[int, str] = {}

    @property
    def plan(self) -> LaunchPlan:
        """What the launcher asks for."""
        return self._captured.plan

    def with_kernels(self, kernels: Sequence[Kernel]) -> PlannedJobs:
        """The same plan with other kernels."""
        plan = replace(self._captured.plan, kernels=tuple(kernels))
        return PlannedJobs(self.source, replace(self._captured, plan=plan))

    def lines(self) -> set[int]:
        """The lines of the kernels of the plan, and those where it launches one."""
        plan = self._captured.plan
        codes = (kernel.code for kernel in plan.kernels if kernel.code is not None)
        found = {line for code in codes for line in range(code.def_line, code.last_line + 1)}
        launches = (one.line for case in plan.cases for one in launches_of(case.steps))
        return found | {line for line in launches if line is not None}

    def job(
        self,
        item: Prepared,
        schedule: str,
        traffic: bool = False,
        tf32: bool = True,
        programs: bool = False,
    ) -> Job | Outcome:
        """The job for one case, or its outcome if that is known without running it."""
        case = self._captured.case(item.number)
        if case is None:
            return self._missing(item.number)
        known = _known(case, item.expectation, self.source)
        if known is not None:
            return known
        expected = item.expectation
        return Job(
            work=self.work(case, result_of(case, expected)),
            args=item.args,
            out_shape=expected.shape,
            out_dtype="any-integer" if expected.any_integer else expected.dtype,
            schedule=schedule,
            traffic=traffic,
            tf32=tf32,
            programs=programs,
            seconds=LARGE_CASE_SECONDS if item.size > LARGE_CASE else CASE_SECONDS,
        )

    def build(self, items: Sequence[Prepared], workers: Workers) -> None:
        """Compile ahead what a GPU will launch: these cases in their order, then all others."""
        asked = {item.number for item in items}
        cases = enumerate(self._captured.plan.cases)
        plans = [self._captured.case(item.number) for item in items]
        plans += [case for number, case in cases if number not in asked]
        launches = variants.for_verdict(plan for plan in plans if plan is not None)
        workers.build(self.to_compile(), launches)

    def build_for_timing(self, case: CasePlan, workers: Workers) -> None:
        """Compile ahead what a GPU will launch for a case that will be timed."""
        workers.build(self.to_compile(), variants.for_timing([case]))

    def to_compile(self) -> Work:
        """The kernels, without any steps."""
        return Work(self.source, FILENAME, self._kernels, NO_STEPS, None, ())

    def _missing(self, number: int) -> Outcome:
        """The outcome of a case that the launcher did not reach."""
        plan = self._captured.plan
        if plan.module.raised is not None:
            return _of_exception(plan.module.raised, self.source)
        stopped = bool(plan.cases) and plan.cases[-1].raised is not None
        if number > len(plan.cases) or (stopped and not self._captured.ended):
            return Outcome("not-run")
        return Outcome(_ENDINGS.get(self._captured.ended, "crashed"))

    def work(self, case: CasePlan, result: Value) -> Work:
        """The steps of a case, and those that made memory which it takes over."""
        return Work(
            source=self.source,
            filename=FILENAME,
            kernels=self._kernels,
            steps=self._text(case),
            result=result,
            inputs=case.inputs,
            earlier=self._earlier,
            needs=tuple(sorted(self._needs[id(case)])),
            keep=self._kept,
        )

    def _text(self, case: CasePlan) -> str:
        """The text of a case's steps, made once for all jobs of the case."""
        if id(case) not in self._texts:
            self._texts[id(case)] = steps_to_text(case.steps)
        return self._texts[id(case)]

    @cached_property
    def _earlier(self) -> str:
        """The steps that made memory of the module or of earlier cases, for all jobs."""
        storages = set(self._kept)
        plan = self._captured.plan
        steps = [s for case in (plan.module, *plan.cases) for s in case.steps]
        return steps_to_text([step for step in steps if target(step) in storages])


# ---------------------------------------------------------------- known without running


def _known(case: CasePlan, expectation: Expectation, source: str) -> Outcome | None:
    """The outcome if the launcher raised or returned an impossible result; otherwise None."""
    if case.raised is not None:
        return _of_exception(case.raised, source)
    complaint = _complaint(case, expectation)
    return Outcome("wrong-return", returned=complaint) if complaint else None


def _of_exception(raised: Raised, source: str) -> Outcome:
    status: protocol.Status = "raised"
    if raised.kind == "SystemExit":
        status = "exited"
    elif raised.kind in ("MemoryError", "OutOfMemoryError"):
        status = "out-of-memory"
    elif raised.kind == "TimeoutError":
        status = "timeout"
    text = plain_text(raised.text, MOST_TEXT).replace("ValuelessTensor", "Tensor")
    told = f"{raised.kind}: {text}" if text else raised.kind
    # The judge's own words come from its own table, not from that process.
    known = translate(text, source) if raised.where == "triton" else None
    fault = Fault(
        code="kernel-error" if raised.where == "triton" else "exception",
        message=known.message if known else told,
        line=raised.line,
        operation=LAUNCHER if raised.where == "triton" else None,
        cause=known.advice if known else "",
    )
    return Outcome(status, error=fault)


def result_of(case: CasePlan, expectation: Expectation) -> Value:
    """What the launcher returned; if the exercise has several results, the expected one.

    None if the launcher returned another number of results.
    """
    if not expectation.names:
        return case.result
    listed = items_of(case.result)
    if listed is None or len(listed) != len(expectation.names):
        return None
    return listed[expectation.result]


def _complaint(case: CasePlan, expectation: Expectation) -> str:
    """Why the returned value cannot be a result, in words that follow "but"; empty if it can."""
    result = result_of(case, expectation)
    out = ref_of(result)
    if expectation.names and result is None:
        names = " and ".join(expectation.names)
        returned = _describe_result(case.result)
        return f"it returned {returned}, where {len(expectation.names)} are expected: {names}"
    if out is None:
        return f"it returned {_describe_result(result)}"
    if out.shape != tuple(expectation.shape):
        return (
            f"it returned a tensor of shape {out.shape}, "
            f"where the shape {tuple(expectation.shape)} is expected"
        )
    dtype = getattr(torch, out.dtype, None)
    right = dtype in protocol.INTEGERS if expectation.any_integer else dtype == expectation.dtype
    if not right:
        return f"it returned a tensor of dtype {out.dtype}"
    if not _contiguous(out):
        return (
            f"it returned a tensor with strides {out.strides}, which is not contiguous: "
            "torch.empty_like of a transposed view, and a transposed view of a dense "
            "tensor, have their columns one after another in memory, not their rows"
        )
    return _not_new(case, out)


def _not_new(case: CasePlan, out: TensorRef) -> str:
    if not torch.Size(out.shape).numel():
        return ""
    if out.storage in case.inputs:
        position = case.inputs.index(out.storage)
        return f"it returned a tensor that shares its memory with argument {position + 1}"
    if out.storage not in made(case.steps):
        return (
            "it returned the tensor of an earlier call again, whose result is overwritten: a "
            "buffer that is kept in a global or in a default argument is not a new tensor"
        )
    return ""


def _contiguous(ref: TensorRef) -> bool:
    expected = 1
    for size, stride in reversed(list(zip(ref.shape, ref.strides, strict=True))):
        if size == 0:
            return True
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _describe_result(value: Any) -> str:
    if value is None:
        return "None"
    listed = items_of(value)
    if listed is not None:
        return f"a tuple of {len(listed)} values"
    if isinstance(value, dict) and "unknown" in value:
        return f"a value of type {value['unknown']}"
    return f"a value of type {type(value).__name__}"
