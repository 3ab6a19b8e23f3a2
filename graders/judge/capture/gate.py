"""The judge's side of the capture: a launcher's plan, and the findings about the launcher.

What it answers comes from a process in which a stranger's code ran: the plan is read with care
(`plan_reader`), its kernels are looked up in the submission's text, and whether a result can come
from kernels at all is decided here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graders.judge.capture.findings import REMARKS, WORDS, capture_finding, told_finding
from graders.judge.cases.layouts import layouts
from graders.judge.compiling.process import Answer, CompileWorker
from graders.judge.plan.kernels import definitions
from graders.judge.plan.reader import PlanError, plan_from_json
from graders.judge.plan.steps import (
    CasePlan,
    Constant,
    Copy,
    Kernel,
    Launch,
    LaunchPlan,
    Raised,
    Step,
    TensorRef,
    Tune,
    launches_of,
    tensors_in,
)
from graders.judge.records import Case, Exercise
from graders.judge.report import Finding
from graders.judge.static.kernel import read_kernel
from graders.judge.submission.loading import Submission
from graders.judge.submission.refusals import did_you_mean

FILENAME = "<submission>"
_NOTHING: dict[str, Any] = {"steps": [], "result": None, "inputs": [], "raised": None}
_FUNCTION = {"unknown": "function"}
# Options of a launch by which a GPU would run something else than the kernel that was read.
_OTHER_CODE = ("ir_override", "extern_libs", "ptx_options")
_NO_ATTRIBUTE = re.compile(r"'(?:ValuelessTensor|Tensor)' object has no attribute '(\w{1,60})'")


@dataclass(frozen=True)
class Captured:
    """The plan of a submission, what is wrong with its launcher, and what might be better.

    `ended` says how the process ended before all cases were there: "timeout", "out-of-memory",
    "crashed" or "exited"; "" where they are, or where the launcher could not even be loaded.
    """

    plan: LaunchPlan
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()
    ended: str = ""

    def case(self, number: int) -> CasePlan | None:
        """The plan for a case; None where the launcher did not get that far."""
        return self.plan.cases[number] if number < len(self.plan.cases) else None


def capture(
    submission: Submission,
    exercise: Exercise,
    cases: Sequence[Case],
    public: int,
    worker: CompileWorker,
    gpu: Mapping[str, Any] | None = None,
) -> Captured:
    """Run the launcher without values, once for each case; the first `public` ones are public.

    gpu: properties of the device that the launcher shall believe to be there. Raises GraderError
    where this machine cannot do it at all.
    """
    request = {
        "task": "capture",
        "source": submission.source,
        "filename": FILENAME,
        "launcher": submission.launcher,
        "cases": layouts(cases),
        "gpu": None if gpu is None else dict(gpu),
    }
    answer = worker.ask(request)
    try:
        plan = _plan(answer, len(cases))
    except PlanError as error:
        finding = capture_finding("not-launchable", str(error), None)
        return Captured(LaunchPlan(), (finding,))
    found = list(_findings(plan, submission, exercise, public))
    remarks = [told_finding(told, True) for told in plan.told if told.code in REMARKS]
    return Captured(plan, tuple(_first(found)), tuple(remarks[:1]), _ended(answer))


def _plan(answer: Answer, cases: int) -> LaunchPlan:
    """The lines of the answer as one plan; raises PlanError."""
    raw: dict[str, Any] = {"kernels": [], "told": [], "module": _NOTHING, "cases": []}
    for line in answer.lines:
        if "module" in line:
            raw["module"] = line["module"]
        elif "case" in line:
            raw["cases"].append(line["case"])
        news = line.get("end", line)
        for part in ("kernels", "told"):
            more = news.get(part, []) if isinstance(news, dict) else None
            if not isinstance(more, list):
                raise PlanError("no list of what is new")
            raw[part] += more
    return plan_from_json(raw, cases)


def _ended(answer: Answer) -> str:
    if answer.timeout:
        return "timeout"
    if answer.ended in ("memory", "size"):
        return "out-of-memory"
    if answer.signal:
        return "crashed"
    return "" if any("end" in line for line in answer.lines) else "exited"


# ---------------------------------------------------------------- findings


def _findings(
    plan: LaunchPlan, submission: Submission, exercise: Exercise, public: int
) -> Iterator[Finding]:
    for told in plan.told:
        if told.code in WORDS and told.code not in REMARKS:
            yield told_finding(told, told.case < public)
    for case in plan.cases[:public]:
        if case.raised is not None:
            yield from _of_exception(case.raised)
    known = definitions(submission.source)
    for kernel in plan.kernels:
        yield from _of_kernel(kernel, known)
    for number, case in enumerate(plan.cases):
        yield from _of_case(case, exercise, number < public)
    complete = [case for case in plan.cases[:public] if case.raised is None]
    if complete and not any(next(launches_of(case.steps), None) for case in complete):
        yield capture_finding("no-kernel", exercise.name, None)


def _of_exception(raised: Raised) -> Iterator[Finding]:
    missing = _NO_ATTRIBUTE.search(raised.text)
    if raised.kind == "AttributeError" and missing:
        guess = did_you_mean(missing[1], dir(torch.Tensor))
        yield capture_finding("no-such-method", missing[1], raised.line, guess)
    elif "Cannot call @triton.jit" in raised.text:
        yield capture_finding("kernel-without-grid", "", raised.line)
    elif raised.kind == "TimeoutError" and "does not come to an end" in raised.text:
        yield capture_finding("timeout", "", raised.line)
    elif raised.kind == "TooManySteps":
        yield capture_finding("too-many-steps", "", raised.line)


def _of_kernel(
    kernel: Kernel, known: Mapping[tuple[int, str], ast.FunctionDef]
) -> Iterator[Finding]:
    node = known.get((kernel.line, kernel.name))
    if node is None:
        yield capture_finding("foreign-kernel", kernel.name[:80], None)
        return
    if any(parameter.default == _FUNCTION for parameter in kernel.parameters):
        yield capture_finding("kernel-not-jit", "", kernel.line)
    yield from read_kernel(node, kernel.names)


def _of_case(case: CasePlan, exercise: Exercise, public: bool) -> Iterator[Finding]:
    results = {ref.storage for ref in tensors_in(case.result)}
    inputs = {number for number in case.inputs if number is not None}
    for step in _all_steps(case.steps):
        if isinstance(step, Launch):
            yield from _of_launch(step, step.line if public else None)
        if isinstance(step, Constant) and "constants" in exercise.forbids:
            yield capture_finding("python-computes", "a tensor of numbers", None)
        if not isinstance(step, Copy) or not _elements(step.source):
            continue
        line = step.line if public else None
        if "copies" in exercise.forbids:
            yield capture_finding("torch-copies", _shown(step), line)
        elif (
            step.source.storage in inputs and step.target.storage in results
        ) or step.target.storage in inputs:
            yield capture_finding("torch-computes", "copy_", line)


def _of_launch(launch: Launch, line: int | None) -> Iterator[Finding]:
    if _FUNCTION in [*launch.positional, *launch.named.values()]:
        yield capture_finding("kernel-not-jit", "", line)
    for name in _OTHER_CODE:
        if launch.named.get(name) is not None:
            yield capture_finding("foreign-kernel", name, line)


def _all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        if isinstance(step, Tune):
            for trial in step.trials:
                yield from _all_steps([*trial.before, *trial.launch, *trial.after, *trial.chosen])
            yield from _all_steps(step.finish)


def _elements(ref: TensorRef) -> int:
    return torch.Size(ref.shape).numel()


def _shown(step: Copy) -> str:
    if step.source.dtype != step.target.dtype:
        return f"from {step.source.dtype} to {step.target.dtype}"
    return "contiguous(), clone() or copy_()"


def _first(findings: Sequence[Finding]) -> list[Finding]:
    """By line, one finding for each line and code: the first cause is what helps."""
    first: dict[tuple[str, int | None], Finding] = {}
    for item in findings:
        first.setdefault((item.code, item.line), item)
    return sorted(first.values(), key=lambda item: item.line or 0)
