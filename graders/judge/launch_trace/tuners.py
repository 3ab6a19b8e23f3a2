"""Findings about launches through an autotuner, from the plan alone.

The trials of a tuner do not count as traffic, and they are one launch for a promise. The process
that recorded the plan ran untrusted code. So a plan that disguises other launches as the trials of
a tuner is refused: all trials must launch the same kernels on the same tensors, once tried and once
chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graders.judge.launch_trace.findings import capture_finding
from graders.judge.plan.steps import (
    CasePlan,
    Constant,
    Launch,
    TensorRef,
    Trial,
    Tune,
    all_steps,
    launches_of,
    tensors_in,
)
from triton_util.report import Finding


def of_tuners(cases: Sequence[CasePlan]) -> Iterator[Finding]:
    """Yield the findings; `cases` are all cases of one process, in their order."""
    tuned: set[tuple[int, str]] = set()
    for case in cases:
        tables = {s.storage for s in all_steps(case.steps) if isinstance(s, Constant)}
        for step in all_steps(case.steps):
            if not isinstance(step, Tune):
                continue
            known = (step.tuner, step.key) in tuned
            tuned.add((step.tuner, step.key))
            if said := _contradiction(step, known, tables):
                yield capture_finding("not-launchable", said, step.line)


def _contradiction(step: Tune, known: bool, tables: set[int]) -> str:
    """Why this cannot be a launch through an autotuner; "" if it can."""
    hooks = [s for trial in step.trials for s in (*trial.before, *trial.after)]
    if any(launches_of([*hooks, *step.finish])):
        return "a hook of an autotuner launches a kernel"
    chosen = [list(launches_of(trial.chosen)) for trial in step.trials]
    tried = [list(launches_of(trial.launch)) for trial in step.trials]
    repeated = known and not any(tried)
    if not all(chosen) or (not repeated and not all(map(_same, tried, chosen))):
        return "an autotuner launches other kernels than it has tried"
    seen = [_acts(launches, tables) for launches in chosen]
    if any(acts != seen[0] for acts in seen):
        return "the configurations of an autotuner launch different kernels, or on other tensors"
    handed = {ref for trial in step.trials for ref in _direct(trial, tables)}
    if not handed <= set(tensors_in(list(step.arguments.values()))):
        return "an autotuner launches on tensors that are not its arguments"
    return ""


def _same(tried: Sequence[Launch], chosen: Sequence[Launch]) -> bool:
    """Whether two lists have the same launches; a tuner within a tuner repeats some."""
    return set(map(repr, tried)) == set(map(repr, chosen))


def _acts(launches: Sequence[Launch], tables: set[int]) -> set[tuple[int, frozenset[TensorRef]]]:
    """The launched kernels, each with the tensors that it gets."""
    return {
        (launch.kernel, frozenset(ref for ref in _refs(launch) if ref.storage not in tables))
        for launch in launches
    }


def _refs(launch: Launch) -> Iterator[TensorRef]:
    yield from tensors_in([*launch.positional, *launch.named.values()])


def _direct(trial: Trial, tables: set[int]) -> Iterator[TensorRef]:
    """The tensors that are arguments themselves, not in a tuple or a descriptor."""
    for launch in launches_of(trial.chosen):
        for value in [*launch.positional, *launch.named.values()]:
            if isinstance(value, dict) and "tensor" in value:
                yield from (ref for ref in tensors_in(value) if ref.storage not in tables)
