"""What a contract says of the way to a result, seen in what the launcher asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graders.judge.plan.steps import CasePlan


@dataclass(frozen=True)
class Machine:
    """A GPU that a launcher is told of; without shared memory there is none, but a CPU.

    `shared_bytes` for one program. `major`: of its compute capability. `warps`: a number that every
    configuration of an autotuner has, in place of its own.
    """

    shared_bytes: int
    major: int = 8
    warps: int | None = None


CPU = Machine(0)


@dataclass(frozen=True)
class Plans:
    """What a launcher asks for in each public case, by the machine in which it believes.

    It has run for an A100 anyway. `on` runs it once more, once for each machine. `attributes` are
    those that its kernels name, as "load" of tl.load.
    """

    a100: Sequence[CasePlan]
    on: Callable[[Machine], Sequence[CasePlan]]
    attributes: frozenset[str]


@dataclass(frozen=True)
class Requirement:
    """What a contract says of the way to a result. Who breaks it has half of the points.

    `broken(plans)` gives what is to be said beside the message, and None where it is kept.
    """

    code: str
    title: str
    message: str
    next_step: str
    broken: Callable[[Plans], str | None]
