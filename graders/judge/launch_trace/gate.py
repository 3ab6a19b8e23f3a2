"""The judge's side of the capture: a launcher's plan, and the findings about the launcher.

The plan comes from a process in which untrusted code ran. So `plan.reader` validates it, its
kernels are looked up in the submission's text, and the judge itself decides whether a result can
come from kernels at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch

from graders.judge.cases.layouts import layouts
from graders.judge.compiling.process import Answer, CompileWorker
from graders.judge.launch_trace.data_flow import named_tuples, of_copies
from graders.judge.launch_trace.findings import REMARKS, WORDS, capture_finding, told_finding
from graders.judge.launch_trace.information import literals, of_numbers
from graders.judge.launch_trace.tuners import of_tuners
from graders.judge.plan.code import by_place
from graders.judge.plan.reader import PlanError, plan_from_lines
from graders.judge.plan.steps import (
    CasePlan,
    Kernel,
    LaunchPlan,
    Raised,
    launches_of,
)
from graders.judge.records import Case, Exercise, GraderError, TensorSpec
from graders.judge.static.kernel import is_foreign, read_kernel
from graders.judge.submission.loading import Submission
from graders.judge.submission.refusals import did_you_mean
from triton_util.report import Finding

FILENAME = "<submission>"
CAPTURE_SECONDS = (
    12.0  # of processor time: the launcher is stopped after 10, see `launch_trace.trace_task`
)
REMEMBERED_BYTES = 1 << 18  # of a plan; ordinary ones have some ten thousand
_FUNCTION = {"unknown": "function"}
# Attributes of other libraries' arrays, and what to write in torch.
_ROWS = "Write x.shape[0] for the number of rows of a matrix: n_rows, n_cols = x.shape."
_COLUMNS = "Write x.shape[1] for the number of columns of a matrix: n_rows, n_cols = x.shape."
MEANT = {
    "strides": "Write x.stride(0), x.stride(1).",
    **dict.fromkeys(("length", "count", "len", "n_elements"), "Write x.numel()."),
    **dict.fromkeys(("rows", "n_rows", "nrows", "height", "h"), _ROWS),
    **dict.fromkeys(("cols", "columns", "n_cols", "ncols", "width", "w"), _COLUMNS),
}
MOST_FINDINGS = 20  # a forged plan could give one for each line
# Launch options that bring code to a GPU other than the kernel's, or run other programs.
CODE_OPTIONS = frozenset(
    ("ir_override", "extern_libs", "ptx_options", "backend_name", "arch", "ptx_version")
)
# Captured after a submission's process ended: does any launcher finish on this machine?
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
    """The plan of a submission, the findings about its launcher, and remarks.

    `ended` says how the process ended before all cases were captured: "timeout", "asleep",
    "out-of-memory", "crashed" or "exited"; "" if all were captured or the launcher could not even
    be loaded.
    """

    plan: LaunchPlan
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()
    ended: str = ""

    def case(self, number: int) -> CasePlan | None:
        """The plan for a case; None if the launcher did not get that far."""
        return self.plan.cases[number] if number < len(self.plan.cases) else None


def capture(
    submission: Submission,
    exercise: Exercise,
    cases: Sequence[Case],
    worker: CompileWorker,
    gpu: Mapping[str, Any] | None = None,
    hidden: bool = False,
) -> Captured:
    """Run the launcher without values, once for each case, in a separate process.

    hidden: the findings must not be shown, because the process knows the cases. They are only what
    no launcher may do in any case; an exception fails its case alone. gpu: properties of the device
    that the launcher shall see, as far as they differ from an A100's; or NO_GPU. Raises GraderError
    if this machine cannot capture any launcher.
    """
    request = _request(submission, layouts(cases), gpu)
    try:
        plan, ended = _asked(worker, request)
        plan = _with_codes(plan, submission)
    except PlanError as error:
        finding = capture_finding("not-launchable", str(error), None)
        return Captured(LaunchPlan(), (finding,))
    found = list(islice(_forbidden(plan, submission, exercise, cases), MOST_FINDINGS))
    if not hidden:
        found += _mistakes(plan, exercise, cases)
    remarks = [told_finding(told) for told in plan.told if told.code in REMARKS]
    remarks += [
        capture_finding("kernel-name", kernel.name[:80], kernel.line)
        for kernel in plan.kernels
        if kernel.code is not None and not kernel.name.isascii()
    ]
    return Captured(plan, tuple(_first(found)[:MOST_FINDINGS]), tuple(remarks[:1]), ended)


def _asked(worker: CompileWorker, request: Mapping[str, Any]) -> tuple[LaunchPlan, str]:
    """The plan, and how the process ended before it was complete; raises PlanError.

    A complete plan is cached: checking the same text again gives the same plan.
    """
    key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    known = worker.remembered(key)
    if isinstance(known, LaunchPlan):
        return known, ""
    answer = worker.ask(request, CAPTURE_SECONDS)
    if answer.ended == "time":
        raise GraderError(
            "the machine has too much to do: the launcher was given too little of the processor. "
            "Judge it again when the machine has less to do"
        )
    if _ended(answer) == "exited":
        _check_machine(worker)
    plan, ended = plan_from_lines(answer.lines(), len(request["cases"])), _ended(answer)
    whole = not ended and len(plan.cases) == len(request["cases"])
    if whole and len(answer.written) <= REMEMBERED_BYTES:
        worker.remember(key, plan, len(answer.written))
    return plan, ended


def _with_codes(plan: LaunchPlan, submission: Submission) -> LaunchPlan:
    """The plan with the text of each kernel, and only those of its names that the text uses."""
    known = by_place(submission.codes)
    made = []
    for kernel in plan.kernels:
        code = known.get((kernel.line, kernel.name))
        used = frozenset() if code is None else code.names
        names = {name: value for name, value in kernel.names.items() if name in used}
        made.append(replace(kernel, names=names, code=code))
    return replace(plan, kernels=tuple(made))


def _request(
    submission: Submission,
    cases: Sequence[Sequence[Mapping[str, Any]]],
    gpu: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The request to the child: capture a launcher for arguments with these layouts."""
    return {
        "task": "capture",
        "source": submission.source,
        "codes": [code.to_json() for code in submission.codes],
        "filename": FILENAME,
        "launcher": submission.launcher,
        "cases": cases,
        "gpu": None if gpu is None else dict(gpu),
    }


def _check_machine(worker: CompileWorker) -> None:
    """Raise GraderError if not even our own launcher finishes.

    Then the machine ended the submission's process, for example because a file is not readable.
    """
    request = _request(Submission("<control>", _CONTROL, "control"), [[_CONTROL_INPUT]])
    answer = worker.ask(request)
    if _ended(answer):
        said = answer.stderr.strip().splitlines()[-1:] or ["its process ended"]
        raise GraderError(f"no launcher can be run on this machine: {said[0]}")


def _ended(answer: Answer) -> str:
    if answer.timeout:
        return "timeout"
    if answer.ended == "asleep":
        return "asleep"
    if answer.ended in ("memory", "size"):
        return "out-of-memory"
    if answer.signal:
        return "crashed"
    return "" if "end" in answer.at else "exited"


# ---------------------------------------------------------------- findings


def _forbidden(
    plan: LaunchPlan, submission: Submission, exercise: Exercise, cases: Sequence[Case]
) -> Iterator[Finding]:
    """Yield findings about what is forbidden, whatever the result is."""
    for told in plan.told:
        if told.code in WORDS and told.code not in REMARKS:
            yield told_finding(told)
    given, literal = named_tuples(plan), literals(submission.source)
    seen: set[str] = set()
    for number, kernel in enumerate(plan.kernels):
        yield from _of_kernel(kernel, given.get(number, {}), seen)
    for number, case in enumerate(plan.cases):
        yield from _of_launches(case)
        yield from of_copies(case, exercise, cases[number].args)
        yield from of_numbers(plan, case, cases[number].args, literal)
    yield from of_tuners(plan.cases)


def _mistakes(plan: LaunchPlan, exercise: Exercise, cases: Sequence[Case]) -> Iterator[Finding]:
    """Yield why a launcher does not finish, or does not reach a launch."""
    for case in plan.cases:
        if case.raised is not None:
            yield from _of_exception(case.raised)
    # With an empty input a launcher may return before its launch.
    plans = zip(plan.cases, cases, strict=False)
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
    kernel: Kernel, fields: Mapping[str, frozenset[str]], seen: set[str]
) -> Iterator[Finding]:
    """Findings about a kernel, unless one with the same text and names was `seen` before."""
    if kernel.code is None:
        yield capture_finding("foreign-kernel", kernel.name[:80], None)
        return
    if any(parameter.default == _FUNCTION for parameter in kernel.parameters):
        yield capture_finding("kernel-not-jit", "", kernel.line)
    kinds = {name: value for name, value in kernel.names.items() if isinstance(value, Mapping)}
    known = {name: sorted(of) for name, of in fields.items()}
    key = json.dumps([id(kernel.code), kinds, sorted(kernel.names), known], sort_keys=True)
    if key not in seen:
        seen.add(key)
        yield from read_kernel(kernel.code.known_tree, kernel.names, fields)
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
    """Sort by line and keep one finding for each line and code: the first cause helps most."""
    first: dict[tuple[str, int | None], Finding] = {}
    for item in findings:
        first.setdefault((item.code, item.line), item)
    return sorted(first.values(), key=lambda item: item.line or 0)
