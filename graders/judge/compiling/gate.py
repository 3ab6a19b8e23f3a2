"""The gate *compile*: every kernel compiles for sm_80 and sm_90, with no GPU at hand.

The launcher's own launches, recorded on small tensors shaped like the cases, say which
specialisations there are; so a learner declares nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graders.judge.cases import tensors
from graders.judge.compiling.findings import (
    assembler_finding,
    compile_finding,
    crash_finding,
    shared_memory_finding,
    timeout_finding,
    uncompiled_finding,
)
from graders.judge.compiling.process import Answer, CompileWorker
from graders.judge.records import Case, Exercise, GraderError, TensorSpec
from graders.judge.report import Finding, KernelResources
from graders.judge.sandbox.confine import confined
from graders.judge.sandbox.report_reader import line as plain_line
from graders.judge.sandbox.report_reader import text as plain_text
from graders.judge.submission.loading import Submission
from triton_util.explain.assembler import (
    Assembled,
    AssemblerError,
    MissingAssemblerError,
    assemble,
)
from triton_util.explain.ptx import widest_load

__all__ = ["SHARED_LIMITS", "CompileResult", "CompileWorker", "compile_gate"]

SHARED_LIMITS = {80: 163 * 1024, 90: 227 * 1024}  # bytes that one program may have
CASES_LIMIT = 48
COMPILED_LIMIT = 16  # what an honest child sends: 4 kernels, 2 specialisations, 2 targets
PTX_LIMIT = 8 << 20
ASSEMBLING_SECONDS = 90.0  # of ptxas for one submission, after which no further run is started


@dataclass(frozen=True)
class CompileResult:
    """Findings, and what the compiler made of each kernel for each target.

    `kernels` are the names that the launcher launched for it, `stopped` what it raised then.
    """

    findings: list[Finding]
    resources: tuple[KernelResources, ...]
    kernels: frozenset[str] = frozenset()
    stopped: str = ""


@dataclass(frozen=True)
class _Compiled:
    """A kernel lowered to PTX, as the child claims."""

    kernel: str
    line: int | None
    target: int
    ptx: str
    shared: int
    fp_fusion: bool
    tuned: bool


def compile_gate(
    submission: Submission,
    exercise: Exercise,
    cases: Sequence[Case],
    worker: CompileWorker,
    every: bool = False,
) -> CompileResult:
    """Compile what the launcher launches on tensors like those of the cases.

    Of cases that specialise alike one is tried, or `every` one. Raises GraderError where
    compiling is not possible at all.
    """
    request = {
        "source": submission.source,
        "filename": "<submission>",
        "launcher": exercise.name,
        "cases": layouts(cases) if every else representative(cases),
    }
    key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    known = worker.remembered(key)
    if not isinstance(known, CompileResult):
        known = _judged(worker.compile(request), worker)
        worker.remember(key, known)
    return known


def uncompiled(result: CompileResult, launched: Set[str]) -> list[Finding]:
    """Findings about kernels that ran and were never compiled: the launcher told them apart."""
    missing = sorted(launched - result.kernels)
    if result.findings or not missing:
        return []
    return [uncompiled_finding(missing[0], result.stopped)]


def layouts(cases: Sequence[Case]) -> list[list[dict[str, Any]]]:
    """The layouts of the arguments of every case."""
    return [[_layout(arg) for arg in case.args] for case in cases][:CASES_LIMIT]


def representative(cases: Sequence[Case]) -> list[list[dict[str, Any]]]:
    """The layouts of the cases' arguments, one case for each way of specialising them."""
    chosen: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        args = [_layout(arg) for arg in case.args]
        chosen.setdefault(json.dumps([_pattern(layout) for layout in args]), args)
    return list(chosen.values())[:CASES_LIMIT]


def _layout(arg: TensorSpec | float) -> dict[str, Any]:
    if not isinstance(arg, TensorSpec):
        return {"value": arg}
    strides, offset, length = tensors.layout(arg)
    return {
        "shape": list(arg.shape),
        "strides": list(strides),
        "offset": offset,
        "length": length,
        "dtype": str(arg.dtype).removeprefix("torch."),
    }


def _pattern(layout: Mapping[str, Any]) -> list[Any]:
    """What Triton specialises on: 1, multiples of 16, more than 32 bits, alignment, dtype.

    Sizes are told apart by magnitude as well, because launchers choose block sizes by them.
    """
    if "value" in layout:
        return [str(layout["value"])]
    sizes = [(*_classes(size), size.bit_length()) for size in layout["shape"]]
    strides = [_classes(stride) for stride in layout["strides"]]
    return [layout["dtype"], sizes, strides, layout["offset"] % 16 == 0]


def _classes(number: int) -> tuple[bool, bool, bool, bool]:
    return number == 0, number == 1, number % 16 == 0, number >= 2**31


def _judged(answer: Answer, worker: CompileWorker) -> CompileResult:
    if answer.timeout or answer.report is None:
        return CompileResult([_stopped(answer)], ())
    errors = _items(answer.report, "errors")
    findings = [compile_finding(error, answer.stderr) for error in errors[:3]]
    if findings:
        return CompileResult(_distinct(findings), ())
    compiled = [found for item in _items(answer.report, "compiled") if (found := _claimed(item))]
    kernels = answer.report.get("kernels")
    return replace(
        _assembled(compiled, worker),
        kernels=frozenset(map(str, kernels)) if isinstance(kernels, list) else frozenset(),
        stopped=plain_text(answer.report.get("stopped"), 300),
    )


def _stopped(answer: Answer) -> Finding:
    """The finding for a child that came to no report."""
    what, line = plain_text(answer.at.get("at"), 200), plain_line(answer.at.get("line"))
    if answer.timeout:
        return timeout_finding(what, line)
    return crash_finding(answer.signal, answer.stderr, what, line)


def _items(report: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = report.get(name)
    listed = value[:COMPILED_LIMIT] if isinstance(value, list) else []
    return [item for item in listed if isinstance(item, dict)]


def _claimed(item: Mapping[str, Any]) -> _Compiled | None:
    ptx, target, shared, line = (item.get(k) for k in ("ptx", "target", "shared", "line"))
    if not isinstance(ptx, str) or len(ptx) > PTX_LIMIT or not ptx.isascii():
        return None
    if not isinstance(target, int) or target not in SHARED_LIMITS:
        return None
    return _Compiled(
        kernel=plain_text(item.get("kernel"), 100),
        line=line if isinstance(line, int) else None,
        target=target,
        ptx=ptx,
        shared=shared if isinstance(shared, int) and shared >= 0 else 0,
        fp_fusion=bool(item.get("fp_fusion", True)),
        tuned=bool(item.get("tuned")),
    )


def _assembled(compiled: Sequence[_Compiled], worker: CompileWorker) -> CompileResult:
    findings: list[Finding] = []
    resources: list[KernelResources] = []
    deadline = time.monotonic() + ASSEMBLING_SECONDS
    for item in compiled:
        if time.monotonic() > deadline:
            findings.append(timeout_finding(f"{item.kernel} for sm_{item.target}", item.line))
            break
        if item.shared > SHARED_LIMITS[item.target]:
            if not _another_fits(item, compiled):
                limit = SHARED_LIMITS[item.target]
                findings.append(
                    shared_memory_finding(item.kernel, item.line, item.target, item.shared, limit)
                )
            continue
        try:
            made = _cached_assembly(item, worker)
        except AssemblerError as error:
            findings.append(assembler_finding(item.kernel, item.line, item.target, str(error)))
            continue
        resources.append(_resources(item, made))
    return CompileResult(_distinct(findings), _largest_per_target(resources))


def _another_fits(item: _Compiled, compiled: Sequence[_Compiled]) -> bool:
    """A configuration of an autotuner that is too large is passed over by Triton itself."""
    return item.tuned and any(
        other.kernel == item.kernel
        and other.target == item.target
        and other.shared <= SHARED_LIMITS[item.target]
        for other in compiled
    )


def _cached_assembly(item: _Compiled, worker: CompileWorker) -> Assembled:
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


def _assemble(item: _Compiled, worker: CompileWorker) -> Assembled:
    command, folder = worker.ptxas(item.target), worker.directory
    assert folder is not None, "the process that named ptxas has a folder"
    return confined(
        lambda: assemble(item.ptx, command, item.fp_fusion, folder),
        programs=[Path(command[0]).parent],
        folder=folder,
    )


def _resources(item: _Compiled, made: Assembled) -> KernelResources:
    return KernelResources(
        kernel=item.kernel,
        target=item.target,
        registers=made.registers,
        shared_bytes=item.shared + made.shared_bytes,
        spill_bytes=made.spill_store_bytes + made.spill_load_bytes,
        load_bits=widest_load(item.ptx),
    )


def _largest_per_target(resources: Sequence[KernelResources]) -> tuple[KernelResources, ...]:
    """The most demanding specialisation of each kernel for each target."""
    largest: dict[tuple[str, int], KernelResources] = {}
    for item in resources:
        old = largest.setdefault((item.kernel, item.target), item)
        widest = max(item.load_bits, old.load_bits)  # of the layout that allows most
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
