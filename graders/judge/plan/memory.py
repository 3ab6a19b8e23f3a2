"""Which memory a case of a launch plan makes, and which it takes over from earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graders.judge.plan.steps import (
    Allocate,
    CasePlan,
    Constant,
    Copy,
    Fill,
    Launch,
    LaunchPlan,
    Step,
    TensorRef,
    Tune,
    all_steps,
    tensors_in,
)


def taken_over(case: CasePlan) -> set[int]:
    """The storages that a case uses although the module or an earlier case made them."""
    used = {ref.storage for ref in [*tensors_in(case.result), *_refs_of(case.steps)]}
    inputs = {number for number in case.inputs if number is not None}
    return used - made(case.steps) - inputs


def making(plan: LaunchPlan, case: CasePlan) -> Iterator[Step]:
    """The steps of the module and of earlier cases that made memory which a case takes over."""
    storages = taken_over(case)
    for earlier in (plan.module, *plan.cases) if storages else ():
        if earlier is case:
            return
        yield from (step for step in earlier.steps if target(step) in storages)


def _refs_of(steps: Sequence[Step]) -> Iterator[TensorRef]:
    for step in all_steps(steps):
        if isinstance(step, Launch):
            yield from tensors_in([*step.positional, *step.named.values()])
        elif isinstance(step, Fill):
            yield step.target
        elif isinstance(step, Copy):
            yield step.target
            yield step.source
        elif isinstance(step, Tune):
            yield from tensors_in(list(step.arguments.values()))


def made(steps: Sequence[Step]) -> set[int]:
    """The storages that these steps allocate."""
    return {step.storage for step in all_steps(steps) if isinstance(step, Allocate | Constant)}


def target(step: Step) -> int:
    """The storage that a step makes or writes into; -1 for launches."""
    if isinstance(step, Allocate | Constant):
        return step.storage
    return step.target.storage if isinstance(step, Fill | Copy) else -1
