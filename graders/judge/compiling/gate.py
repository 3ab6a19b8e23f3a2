"""The gate *compile*: every kernel must compile for sm_80 and sm_90, without a GPU.

If an exercise needs more than sm_80 has, only sm_90 counts.

The launches of the plan determine the specialisations. So a learner declares nothing, and exactly
the kernels that run are compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from graders.judge import bounds
from graders.judge.bounds import line as plain_line
from graders.judge.bounds import text as plain_text
from graders.judge.compiling.findings import (
    asleep_finding,
    assembler_finding,
    compile_finding,
    crash_finding,
    shared_memory_finding,
    timeout_finding,
)
from graders.judge.compiling.process import Answer, CompileWorker
from graders.judge.jail.confine import confined
from graders.judge.launch_trace.gate import FILENAME, Captured
from graders.judge.plan.specialising import meaning, specialising
from graders.judge.plan.steps import (
    Launch,
    LaunchPlan,
    Step,
    Tune,
    kernels_to_json,
    launches_of,
)
from graders.judge.records import GraderError
from graders.judge.submission.loading import Submission
from triton_util.explain.assembler import (
    Assembled,
    AssemblerError,
    MissingAssemblerError,
    assemble,
)
from triton_util.explain.ptx import widest_load
from triton_util.plain_data import read
from triton_util.report import Finding, KernelResources

__all__ = ["SHARED_LIMITS", "CompileResult", "CompileWorker", "compile_gate"]

SHARED_LIMITS = {80: 163 * 1024, 90: 227 * 1024}  # bytes of shared memory of one program
LAUNCHES_LIMIT = 2000  # distinct ones; the child binds and specialises each
COMPILED_LIMIT = 16  # more than an honest child sends: 4 kernels, one and a half times 2 targets
PTX_LIMIT = 8 << 20
AT = b'{"at":'  # begins the child's lines about its progress
SHARED_CLAIM = 1 << 40  # bytes; a larger number is not plausible
Ptx = Annotated[str, bounds.fits(lambda ptx: len(ptx) <= PTX_LIMIT and ptx.isascii())]
ASSEMBLING_SECONDS = 90.0  # of ptxas for one submission; then no further run is started


@dataclass(frozen=True)
class CompileResult:
    """Findings, the compiler's output for each kernel and target, and the visited arms.

    `visited` has the arms of branches (see `plan.arms`) by the `meaning` of a launch.
    """

    findings: list[Finding]
    resources: tuple[KernelResources, ...]
    visited: Mapping[str, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class LoweredKernel:
    """A kernel that the child reports as lowered to PTX."""

    kernel: Annotated[str, bounds.cleaned(100), bounds.or_else("")]
    line: bounds.Line
    target: Annotated[int, bounds.fits(SHARED_LIMITS.__contains__)]
    ptx: Ptx
    shared: Annotated[int, bounds.within(0, SHARED_CLAIM)]
    fp_fusion: Annotated[bool, bounds.or_else(True)] = True
    tuned: bounds.Flag = False


def compile_gate(
    submission: Submission,
    captured: Captured,
    worker: CompileWorker,
    least_capability: int = 0,
    second: CompileWorker | None = None,
    compiled: LaunchPlan | None = None,
    only: Set[str] = frozenset(),
) -> CompileResult:
    """Compile exactly what the plan launches, for each target that has the capability.

    Launches with the same meaning in a plan that is already `compiled` are left out; those that
    differ only in a size or stride of 1 go through the front end only. A `second` process shares
    the work, with the same result. `only`: all launches of these meanings go through the front
    end, and no others. Raises GraderError if compiling is not possible at all.
    """
    plan, alike, kernels = captured.plan, bool(only), captured.plan.kernels
    launches = _launches(plan, only)
    if compiled is not None and compiled.kernels == kernels:
        before = _launches(compiled)
        known = {meaning(raw, kernels, ones) for raw in before for ones in (True, False)}
        launches = [raw for raw in launches if meaning(raw, kernels) not in known]
        if not launches:
            return CompileResult([], ())
        alike = all(meaning(raw, kernels, ones=False) in known for raw in launches)
    request = {
        "task": "compile",
        "targets": [target for target in SHARED_LIMITS if target >= least_capability],
        "source": submission.source,
        "filename": FILENAME,
        "kernels": kernels_to_json(kernels),
        "launches": launches,
        "part": "check" if alike else None,
        "all": bool(only),
    }
    key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    result = worker.remembered(key)
    if not isinstance(result, CompileResult):
        result = _judged(request, worker, None if alike else second)
        worker.remember(key, result)
    return result


def _judged(
    request: Mapping[str, Any], worker: CompileWorker, second: CompileWorker | None
) -> CompileResult:
    """Return the result of the answer; with a second process, one checks and one lowers."""
    if second is None:
        checked = answer = asked(request, worker)
    else:
        checked, answer = _shared(request, worker, second)
    findings, resources = _read(answer, worker)
    return CompileResult(findings, resources, _visited(checked))


def _shared(
    request: Mapping[str, Any], worker: CompileWorker, second: CompileWorker
) -> tuple[Answer, Answer]:
    """Return the answers of the process that checks, and of the one that lowers if that passes."""
    with ThreadPoolExecutor(1) as beside:
        lowering = beside.submit(asked, {**request, "part": "lower"}, second)
        checked = asked({**request, "part": "check"}, worker)
        wrong = checked.report is None or items_of(checked.report, "errors")
        return checked, checked if checked.timeout or wrong else lowering.result()


def _visited(answer: Answer) -> dict[str, frozenset[int]]:
    """Return the arms that the front end visited, by the meaning of a launch."""
    found = {}
    for line in answer.lines(AT):
        of, arms = line.get("meaning"), line.get("arms")
        if isinstance(of, str) and isinstance(arms, list):
            found[of] = frozenset(arm for arm in arms if type(arm) is int)
    return found


def asked(request: Mapping[str, Any], worker: CompileWorker) -> Answer:
    """Return the compiling process's answer; ask once more if only wall time ran out.

    Compiling never sleeps. If wall time runs out before CPU time, the machine is too busy.
    Raises GraderError if that happens twice.
    """
    for _ in range(2):
        answer = worker.ask(request)
        if not (answer.timeout and answer.ended == "time"):
            return answer
    raise GraderError(
        f"compiling was given less than {worker.cpu_seconds:.0f} s of the processor in six times "
        "as long, twice: grade again when the machine is less busy"
    )


def _launches(plan: LaunchPlan, only: Set[str] = frozenset()) -> list[dict[str, Any]]:
    """Return the launches that may specialise differently, each with its number of occurrences.

    only: return those with these meanings; all if it is empty.
    """
    found: dict[str, dict[str, Any]] = {}
    for case in plan.cases:
        for launch, tuned in _with_tuning(case.steps):
            if is_empty(launch.grid):
                continue  # an empty grid compiles nothing: BLOCK_SIZE may be 0
            raw = {**specialising(launch), "tuned": tuned}
            if only and meaning(raw, plan.kernels) not in only:
                continue
            key = json.dumps(raw, sort_keys=True)
            if key not in found and len(found) < LAUNCHES_LIMIT:
                found[key] = {**raw, "line": launch.line, "count": 0}
            if key in found:
                found[key]["count"] += 1
    return list(found.values())


def _with_tuning(steps: Sequence[Step]) -> Iterator[tuple[Launch, bool]]:
    """Yield every launch, and whether it is one of several configurations."""
    for step in steps:
        if isinstance(step, Tune):
            for launch in launches_of([step]):
                yield launch, len(step.trials) > 1
        elif isinstance(step, Launch):
            yield step, False


def is_empty(grid: Any) -> bool:
    return 0 in (grid if isinstance(grid, list) else [grid])


def _read(
    answer: Answer, worker: CompileWorker
) -> tuple[list[Finding], tuple[KernelResources, ...]]:
    if answer.timeout or answer.report is None:
        return [_stopped(answer, worker.cpu_seconds)], ()
    errors = items_of(answer.report, "errors")
    findings = [compile_finding(error, answer.stderr) for error in errors[:3]]
    if findings:
        return _distinct(findings), ()
    compiled = [found for item in items_of(answer.report, "compiled") if (found := claimed(item))]
    return _assembled(compiled, worker)


def _stopped(answer: Answer, seconds: float) -> Finding:
    """Return the finding for a child that ended without a report."""
    what, line = plain_text(answer.at.get("at"), 200), plain_line(answer.at.get("line"))
    if answer.ended == "asleep":
        return asleep_finding(line)
    if not answer.timeout:
        return crash_finding(answer.signal, answer.stderr, what, line)
    found = timeout_finding(what, line)
    budget = (
        f"A submission has {seconds:.0f} s of the processor for all its configurations and "
        "all targets together. If its values are correct, half of the points remain."
    )
    return replace(found, message=f"{found.message} {budget}")


def items_of(
    report: Mapping[str, Any], name: str, limit: int = COMPILED_LIMIT
) -> list[Mapping[str, Any]]:
    """Return a list of objects in a report; skip what is malformed."""
    value = report.get(name)
    listed = value[:limit] if isinstance(value, list) else []
    return [item for item in listed if isinstance(item, dict)]


def claimed(item: Mapping[str, Any]) -> LoweredKernel | None:
    """Return a kernel that the child reports as compiled; None if that is implausible."""
    with contextlib.suppress(ValueError):
        return read(LoweredKernel, item)
    return None


def _assembled(
    compiled: Sequence[LoweredKernel], worker: CompileWorker
) -> tuple[list[Finding], tuple[KernelResources, ...]]:
    findings: list[Finding] = []
    resources: list[KernelResources] = []
    deadline = time.monotonic() + ASSEMBLING_SECONDS
    for item in compiled:
        if time.monotonic() > deadline:
            raise GraderError(
                f"ptxas was not done with {item.kernel} after {ASSEMBLING_SECONDS:.0f} s: grade "
                "again when the machine is less busy"
            )
        if item.shared > SHARED_LIMITS[item.target]:
            if not _another_fits(item, compiled):
                limit = SHARED_LIMITS[item.target]
                findings.append(
                    shared_memory_finding(item.kernel, item.line, item.target, item.shared, limit)
                )
            continue
        try:
            made = assembly_of(item, worker)
        except AssemblerError as error:
            if _another_assembles(item, compiled, worker):
                continue
            findings.append(assembler_finding(item.kernel, item.line, item.target, str(error)))
            continue
        resources.append(_resources(item, made))
    return _distinct(findings), _largest_per_target(resources)


def _another_fits(item: LoweredKernel, compiled: Sequence[LoweredKernel]) -> bool:
    """Whether another configuration of the autotuner fits: Triton skips those that do not."""
    return item.tuned and any(
        other.kernel == item.kernel
        and other.target == item.target
        and other.shared <= SHARED_LIMITS[item.target]
        for other in compiled
    )


def _another_assembles(
    item: LoweredKernel, compiled: Sequence[LoweredKernel], worker: CompileWorker
) -> bool:
    """Whether ptxas accepts another configuration: Triton skips one that ptxas refuses."""
    for other in compiled:
        alike = (other.kernel, other.target) == (item.kernel, item.target) and other is not item
        if item.tuned and alike and other.shared <= SHARED_LIMITS[other.target]:
            with contextlib.suppress(AssemblerError):
                assembly_of(other, worker)
                return True
    return False


def assembly_of(item: LoweredKernel, worker: CompileWorker) -> Assembled:
    """Assemble a kernel with ptxas; raises AssemblerError if ptxas refuses it."""
    text = f"{item.target} {item.fp_fusion} {item.ptx}"
    key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    known = worker.remembered(key)
    if not isinstance(known, Assembled):
        try:
            known = _assemble(item, worker)
        except MissingAssemblerError as error:
            raise GraderError(str(error)) from error
        worker.remember(key, known)
    return known


def _assemble(item: LoweredKernel, worker: CompileWorker) -> Assembled:
    command, folder = worker.ptxas(item.target), worker.directory
    assert folder is not None, "the process that named ptxas has a folder"
    return confined(
        lambda: assemble(item.ptx, command, item.fp_fusion, folder),
        programs=[Path(command[0]).parent],
        folder=folder,
    )


def _resources(item: LoweredKernel, made: Assembled) -> KernelResources:
    return KernelResources(
        kernel=item.kernel,
        target=item.target,
        registers=made.registers,
        shared_bytes=item.shared + made.shared_bytes,
        spill_bytes=made.spill_store_bytes + made.spill_load_bytes,
        load_bits=widest_load(item.ptx),
    )


def _largest_per_target(resources: Sequence[KernelResources]) -> tuple[KernelResources, ...]:
    """Return the most demanding specialisation of each kernel for each target."""
    largest: dict[tuple[str, int], KernelResources] = {}
    for item in resources:
        old = largest.setdefault((item.kernel, item.target), item)
        widest = max(item.load_bits, old.load_bits)  # with the layout that allows the widest
        needs_more = (item.spill_bytes, item.registers, item.shared_bytes) > (
            old.spill_bytes,
            old.registers,
            old.shared_bytes,
        )
        largest[item.kernel, item.target] = replace(item if needs_more else old, load_bits=widest)
    return tuple(largest.values())


def _distinct(findings: Sequence[Finding]) -> list[Finding]:
    first: dict[tuple[str, int | None, str], Finding] = {}
    for item in findings:
        first.setdefault((item.code, item.line, item.message), item)
    return list(first.values())
