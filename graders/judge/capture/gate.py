"""The judge's side of the capture: a launcher's plan, and the findings about the launcher.

The plan comes from a process in which a stranger's code ran. So `plan.reader` validates it, its
kernels are looked up in the submission's text, and the judge itself decides whether a result can
come from kernels at all.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graders.judge.capture.data_flow import launched_kernels, of_copies
from graders.judge.capture.findings import (
    REMARKS,
    UNSEEN,
    WORDS,
    capture_finding,
    told_finding,
    unseen,
)
from graders.judge.capture.information import literals, of_numbers
from graders.judge.capture.tuners import of_tuners
from graders.judge.cases.layouts import layouts
from graders.judge.compiling.process import Answer, CompileWorker
from graders.judge.plan.kernels import definitions
from graders.judge.plan.reader import PlanError, plan_from_json
from graders.judge.plan.steps import (
    CasePlan,
    Kernel,
    LaunchPlan,
    Raised,
    launches_of,
)
from graders.judge.records import Case, Exercise, GraderError, TensorSpec
from graders.judge.report import Finding
from graders.judge.static.kernel import is_foreign, read_kernel
from graders.judge.submission.loading import Submission
from graders.judge.submission.refusals import did_you_mean

FILENAME = "<submission>"
CAPTURE_SECONDS = 12.0  # of the processor: the launcher is told after 10, see `capture.child`
REMEMBERED_BYTES = 1 << 18  # of a plan; ordinary ones have some ten thousand
_NOTHING: dict[str, Any] = {"steps": [], "result": None, "inputs": [], "raised": None}
_FUNCTION = {"unknown": "function"}
# What other libraries have, and what torch calls it.
_ROWS = "Write x.shape[0] for the number of rows of a matrix: n_rows, n_cols = x.shape."
_COLUMNS = "Write x.shape[1] for the number of columns of a matrix: n_rows, n_cols = x.shape."
MEANT = {
    "strides": "Write x.stride(0), x.stride(1).",
    **dict.fromkeys(("length", "count", "len", "n_elements"), "Write x.numel()."),
    **dict.fromkeys(("rows", "n_rows", "nrows", "height", "h"), _ROWS),
    **dict.fromkeys(("cols", "columns", "n_cols", "ncols", "width", "w"), _COLUMNS),
}
MOST_FINDINGS = 20  # a forged plan could give one for each line
# Options of a launch that bring other code to a GPU than the kernel's, or other programs.
CODE_OPTIONS = frozenset(
    ("ir_override", "extern_libs", "ptx_options", "backend_name", "arch", "ptx_version")
)
# Captured where a submission's process ended: does any launcher get to its end here?
_CONTROL = """
import torch, triton
import triton.language as tl
@triton.jit
def control_kernel(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
def control(x):
    out = torch.zeros_like(x)
    control_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), BLOCK_SIZE=16)
    return out
"""
_CONTROL_INPUT = {"dtype": "float32", "length": 37, "shape": [37], "strides": [1], "offset": 0}
_NO_ATTRIBUTE = re.compile(r"'(?:ValuelessTensor|Tensor)' object has no attribute '(\w{1,60})'")


NO_GPU: Mapping[str, Any] = {"name": ""}  # no device at all


@dataclass(frozen=True)
class Captured:
    """The plan of a submission, what is wrong with its launcher, and what might be better.

    The first `public` cases may be spoken of. `ended` says how the process ended before all cases
    were there: "timeout", "out-of-memory", "crashed" or "exited"; "" where they are, or where the
    launcher could not even be loaded.
    """

    plan: LaunchPlan
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()
    ended: str = ""
    public: int = 0

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

    gpu: properties of the device that the launcher shall believe to be there, other than those of
    an A100; or NO_GPU. Raises GraderError where this machine cannot do it at all.
    """
    request = _request(submission.source, submission.launcher, layouts(cases), gpu)
    try:
        plan, ended = _asked(worker, request)
    except PlanError as error:
        finding = capture_finding("not-launchable", str(error), None)
        return Captured(LaunchPlan(), (finding,), public=public)
    found = list(_findings(plan, submission, exercise, cases, public))
    found = [finding for finding in found if finding.message != UNSEEN] or found
    remarks = [told_finding(told, told.case < public) for told in plan.told if told.code in REMARKS]
    return Captured(plan, tuple(_first(found)[:MOST_FINDINGS]), tuple(remarks[:1]), ended, public)


def _asked(worker: CompileWorker, request: Mapping[str, Any]) -> tuple[LaunchPlan, str]:
    """The plan, and how the process ended before it was whole; raises PlanError.

    A whole plan is remembered: who checks the same text again gets the same plan.
    """
    key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    known = worker.remembered(key)
    if isinstance(known, LaunchPlan):
        return known, ""
    answer = worker.ask(request, CAPTURE_SECONDS)
    if _ended(answer) == "exited":
        _check_machine(worker)
    plan, ended = _plan(answer, len(request["cases"])), _ended(answer)
    whole = not ended and len(plan.cases) == len(request["cases"])
    if whole and answer.size <= REMEMBERED_BYTES:
        worker.remember(key, plan)
    return plan, ended


def _request(
    source: str,
    launcher: str,
    cases: Sequence[Sequence[Mapping[str, Any]]],
    gpu: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What the child is asked: to capture a launcher for arguments that lie like these."""
    return {
        "task": "capture",
        "source": source,
        "filename": FILENAME,
        "launcher": launcher,
        "cases": cases,
        "gpu": None if gpu is None else dict(gpu),
    }


def _check_machine(worker: CompileWorker) -> None:
    """Raise GraderError where not even a launcher of our own comes to its end: then it is the
    machine that ended the submission's process, for want of a file that it may read, say."""
    request = _request(_CONTROL, "control", [[_CONTROL_INPUT]])
    answer = worker.ask(request)
    if _ended(answer):
        said = answer.stderr.strip().splitlines()[-1:] or ["its process ended"]
        raise GraderError(f"no launcher can be run on this machine: {said[0]}")


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
    plan: LaunchPlan,
    submission: Submission,
    exercise: Exercise,
    cases: Sequence[Case],
    public: int,
) -> Iterator[Finding]:
    for told in plan.told:
        if told.code in WORDS and told.code not in REMARKS:
            yield told_finding(told, told.case < public)
    for case in plan.cases[:public]:
        if case.raised is not None:
            yield from _of_exception(case.raised)
    known, literal = definitions(submission.source), literals(submission.source)
    seen = launched_kernels(plan, plan.cases[:public])
    for number, kernel in enumerate(plan.kernels):
        found = list(_of_kernel(kernel, known))
        yield from found if number in seen else map(unseen, found)
    for number, case in enumerate(plan.cases):
        found = [
            *_of_launches(case),
            *of_copies(case, exercise, cases[number].args),
            *of_numbers(plan, case, cases[number].args, literal),
        ]
        yield from found if number < public else map(unseen, found)
    for number, one in of_tuners(plan.cases):
        yield one if number < public else unseen(one)
    # A launcher may be done with an empty input before it comes to its launch.
    plans = zip(plan.cases[:public], cases, strict=False)
    complete = [plan for plan, case in plans if plan.raised is None and not _is_empty(case)]
    if complete and not any(next(launches_of(case.steps), None) for case in complete):
        yield capture_finding("no-kernel", exercise.name, None)


def _is_empty(case: Case) -> bool:
    """Whether one of the tensors has no elements."""
    return any(isinstance(arg, TensorSpec) and 0 in arg.shape for arg in case.args)


def _of_exception(raised: Raised) -> Iterator[Finding]:
    missing = _NO_ATTRIBUTE.search(raised.text)
    if raised.kind == "AttributeError" and missing:
        guess = MEANT.get(missing[1]) or did_you_mean(missing[1], dir(torch.Tensor))
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
    if any(is_foreign(parameter.default, tensors=False) for parameter in kernel.parameters):
        yield capture_finding("foreign-argument", "", kernel.line)


def _of_launches(case: CasePlan) -> Iterator[Finding]:
    for launch in launches_of(case.steps):
        given = [*launch.positional, *launch.named.values()]
        if {"unknown": "function"} in given:
            yield capture_finding("kernel-not-jit", "", launch.line)
        if any(is_foreign(value) for value in given):
            yield capture_finding("foreign-argument", "", launch.line)
        if loading := CODE_OPTIONS & launch.named.keys():
            yield capture_finding("foreign-code", sorted(loading)[0], launch.line)


def _first(findings: Sequence[Finding]) -> list[Finding]:
    """By line, one finding for each line and code: the first cause is what helps."""
    first: dict[tuple[str, int | None], Finding] = {}
    for item in findings:
        first.setdefault((item.code, item.line), item)
    return sorted(first.values(), key=lambda item: item.line or 0)
