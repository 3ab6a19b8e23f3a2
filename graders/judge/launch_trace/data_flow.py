"""Findings about copies and conversions, from the plan alone.

The process that recorded the plan ran untrusted code, so its own remarks are not used here. A
forged plan has to meet the same bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graders.judge.launch_trace.findings import capture_finding
from graders.judge.plan.steps import (
    Allocate,
    CasePlan,
    Constant,
    Copy,
    LaunchPlan,
    TensorRef,
    all_steps,
    launches_of,
    tensors_in,
)
from graders.judge.records import Exercise, TensorSpec
from triton_util.report import Finding

# Every input tensor and the result may be converted once, and a few tensors in between. With
# hundreds of conversions, and kernels that move bytes between them, anything can be computed.
MOST_CONVERSIONS = 12


def launched_kernels(plan: LaunchPlan, cases: Sequence[CasePlan]) -> set[int]:
    """The numbers of the kernels that these cases launch, and of those that these call."""
    found: set[int] = set()
    waiting = []
    for case in cases:
        for launch in launches_of(case.steps):
            waiting += [launch.kernel, *_kernels_in([*launch.positional, *launch.named.values()])]
    while waiting:
        number = waiting.pop()
        if number not in found and number < len(plan.kernels):
            found.add(number)
            kernel = plan.kernels[number]
            waiting += _kernels_in(
                [*kernel.names.values(), *(p.default for p in kernel.parameters)]
            )
    return found


def _kernels_in(value: Any) -> Iterator[int]:
    if isinstance(value, Mapping):
        for kind, inner in value.items():
            if kind == "kernel":
                yield inner
            elif kind in ("constexpr", "tuple", "fields"):
                yield from _kernels_in(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _kernels_in(item)


def named_tuples(plan: LaunchPlan) -> dict[int, dict[str, frozenset[str]]]:
    """Kernel → parameter → the fields of the named tuple that every launch gives to it.

    A kernel that others call is left out, because they may give it anything.
    """
    callers = [value for kernel in plan.kernels for value in kernel.names.values()]
    called = set(_kernels_in(callers))
    found: dict[int, dict[str, frozenset[str]]] = {}
    for case in plan.cases:
        for launch in launches_of(case.steps):
            if launch.kernel >= len(plan.kernels) or launch.kernel in called:
                continue
            names = [parameter.name for parameter in plan.kernels[launch.kernel].parameters]
            given = {**dict(zip(names, launch.positional, strict=False)), **launch.named}
            fields = {
                name: frozenset(value["fields"][0])
                for name, value in given.items()
                if isinstance(value, Mapping) and "fields" in value
            }
            known = found.setdefault(launch.kernel, fields)
            found[launch.kernel] = {n: known[n] & fields[n] for n in known.keys() & fields.keys()}
    return found


# ---------------------------------------------------------------- copies


def of_copies(case: CasePlan, exercise: Exercise, args: Sequence[Any]) -> Iterator[Finding]:
    """Findings about what torch copies and converts in one case; `args` are from its record."""
    results = {ref.storage for ref in tensors_in(case.result)}
    inputs = {number for number in case.inputs if number is not None}
    stored_as = _dtypes(case, args)
    conversions = 0
    for step in all_steps(case.steps):
        if not isinstance(step, Copy) or not _elements(step.source):
            continue
        conversions += step.source.dtype != step.target.dtype
        if "copies" in exercise.forbids:
            yield capture_finding("torch-copies", _shown(step), step.line)
        elif "moves" in exercise.forbids and step.source.dtype == step.target.dtype:
            yield capture_finding("torch-moves", _shown(step), step.line)
        elif step.target.storage in inputs:
            yield capture_finding("argument-written", _shown(step), step.line)
        elif step.source.storage in inputs and step.target.storage in results:
            yield capture_finding("argument-becomes-result", _shown(step), step.line)
        elif _takes_apart(step, stored_as) or conversions > MOST_CONVERSIONS:
            yield capture_finding("torch-computes", _shown(step), step.line)


def _takes_apart(step: Copy, stored_as: Mapping[int, str]) -> bool:
    """Whether a copy converts numbers that were reinterpreted from another dtype.

    Reinterpreting a float's bits as integers and converting them would compute its exponent or
    mantissa.
    """
    if step.source.dtype == step.target.dtype:
        return False
    return any(
        stored_as.get(ref.storage, ref.dtype) != ref.dtype for ref in (step.source, step.target)
    )


def _dtypes(case: CasePlan, args: Sequence[Any]) -> dict[int, str]:
    """The dtype with which the elements of each storage were made."""
    pairs = zip(case.inputs, args, strict=False)
    found = {
        number: str(arg.dtype).removeprefix("torch.")
        for number, arg in pairs
        if number is not None and isinstance(arg, TensorSpec)
    }
    for step in all_steps(case.steps):
        if isinstance(step, Allocate | Constant):
            found.setdefault(step.storage, step.dtype)
    return found


def _elements(ref: TensorRef) -> int:
    return math.prod(ref.shape)


def _shown(step: Copy) -> str:
    if step.source.dtype != step.target.dtype:
        return f"from {step.source.dtype} to {step.target.dtype}"
    return "contiguous(), clone() or copy_()"
