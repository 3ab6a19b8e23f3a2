"""What a contract says of the way to a result, seen in what the launcher asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graders.judge.plan.steps import CasePlan


@dataclass(frozen=True)
class Plans:
    """What a launcher asks for in each public case, by the machine in which it believes.

    `small` is a GPU of the same kind as an A100 with less shared memory. It and `cpu` are asked
    for when they are needed: the launcher runs once more for each.
    """

    a100: Sequence[CasePlan]
    small: Callable[[], Sequence[CasePlan]]
    cpu: Callable[[], Sequence[CasePlan]]


@dataclass(frozen=True)
class Promise:
    """What a contract says of the way to a result. Who breaks it has half of the points.

    `broken(plans)` gives what is to be said beside the message, and None where it is kept.
    """

    code: str
    title: str
    message: str
    next_step: str
    broken: Callable[[Plans], str | None]
