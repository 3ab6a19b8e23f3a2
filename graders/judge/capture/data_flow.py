"""Findings about copies, conversions and numbers that Python computed, from the plan alone.

The process that recorded the plan ran a stranger's code, so its own remarks are not used here. A
forged plan is held to the same bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from graders.judge.capture.findings import capture_finding
from graders.judge.plan.steps import (
    Allocate,
    CasePlan,
    Constant,
    Copy,
    Fill,
    Launch,
    Step,
    TensorRef,
    Tune,
    all_steps,
    launches_of,
    tensors_in,
)
from graders.judge.records import Exercise, TensorSpec
from graders.judge.report import Finding

# Every tensor that comes in and the result may be converted once, and a few in between. Out of
# hundreds of conversions, with kernels that move bytes between them, anything can be computed.
MOST_CONVERSIONS = 12
# One launch for each group of rows is a kernel's work still; one for each element is Python's.
MOST_LAUNCHES = 16
MOST_BITS = 4096  # of all numbers that one call hands over, where they might be the result


def of_copies(case: CasePlan, exercise: Exercise, args: Sequence[Any]) -> Iterator[Finding]:
    """Findings about what torch copies and converts in one case; `args` are its record's."""
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

    Integers made of a float's bits and then converted would compute its exponent or mantissa.
    """
    if step.source.dtype == step.target.dtype:
        return False
    return any(
        stored_as.get(ref.storage, ref.dtype) != ref.dtype for ref in (step.source, step.target)
    )


def _dtypes(case: CasePlan, args: Sequence[Any]) -> dict[int, str]:
    """The dtype of the elements of each storage, as it was made."""
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
    return torch.Size(ref.shape).numel()


def _shown(step: Copy) -> str:
    if step.source.dtype != step.target.dtype:
        return f"from {step.source.dtype} to {step.target.dtype}"
    return "contiguous(), clone() or copy_()"


# ---------------------------------------------------------------- numbers


def of_numbers(case: CasePlan, exercise: Exercise) -> Iterator[Finding]:
    """Findings about numbers that Python might have worked out, where they can be the result."""
    if "constants" not in exercise.forbids:
        return
    steps = list(all_steps(case.steps))
    if any(isinstance(step, Constant) for step in steps):
        yield capture_finding("python-computes", "a tensor of numbers", None)
    fills = sum(isinstance(step, Fill) for step in steps)
    handed = list(_handed_over(case.steps))
    line = next((launch.line for launch in launches_of(case.steps)), None)
    if len(handed) > MOST_LAUNCHES or fills > MOST_LAUNCHES:
        yield capture_finding("python-walks", "", line)
    if sum(handed) + sum(_bits_of_configurations(steps)) > MOST_BITS:
        yield capture_finding("python-computes", "many numbers", line)


def _handed_over(steps: Sequence[Step]) -> Iterator[int]:
    """How many bits of information the arguments of each launch can carry.

    The launches of an autotuner that differ only in their configuration count once.
    """
    for step in steps:
        if isinstance(step, Launch):
            yield _bits([*step.positional, *step.named.values()])
        elif isinstance(step, Tune):
            yield from _handed_over(step.finish)
            different: dict[str, int] = {}
            for trial in step.trials:
                yield from _handed_over([*trial.before, *trial.after])
                for launch in launches_of([*trial.launch, *trial.chosen]):
                    named = {n: v for n, v in launch.named.items() if n not in trial.config}
                    given = [*launch.positional, *named.values()]
                    key = json.dumps([launch.kernel, launch.grid, sorted(named), given])
                    different[key] = _bits(given)
            yield from different.values()


def _bits_of_configurations(steps: Sequence[Step]) -> Iterator[int]:
    for step in steps:
        if isinstance(step, Tune):
            yield from (_bits(list(trial.config.values())) for trial in step.trials)


def _bits(value: Any) -> int:
    """How much the numbers, texts and places in a value can tell."""
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, int):
        return max(1, value.bit_length())
    if isinstance(value, float):
        return 64
    if isinstance(value, str):
        return 8 * len(value)
    if isinstance(value, Mapping):
        return sum(_bits(inner) for kind, inner in value.items() if kind not in _KINDS)
    return sum(map(_bits, value)) if isinstance(value, list | tuple) else 0


_KINDS = frozenset({"library", "kernel", "dtype", "unknown", "module"})  # nothing that counts
