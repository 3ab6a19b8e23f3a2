"""What a contract requires of the method, checked in what the launcher asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graders.judge.plan.steps import CasePlan


@dataclass(frozen=True)
class Machine:
    """A GPU that the launcher is made to see; without shared memory it is a CPU.

    `shared_bytes` is per program. `major` is of the compute capability. `warps` replaces the number
    of warps of every configuration of an autotuner.
    """

    shared_bytes: int
    major: int = 8
    warps: int | None = None


CPU = Machine(0)


@dataclass(frozen=True)
class Plans:
    """What a launcher asks for in each public case, by the machine that it sees.

    The plan for an A100 exists anyway. `on` runs the launcher again, once for each other machine.
    `attributes` are those that its kernels name, such as "load" in tl.load.
    """

    a100: Sequence[CasePlan]
    on: Callable[[Machine], Sequence[CasePlan]]
    attributes: frozenset[str]


@dataclass(frozen=True)
class Requirement:
    """What a contract requires of the method. A submission that breaks it keeps half of the points.

    `broken(plans)` returns what to add to the message, or None if the requirement is met.
    """

    code: str
    title: str
    message: str
    next_step: str
    broken: Callable[[Plans], str | None]
