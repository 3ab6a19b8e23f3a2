"""What a contract can say of compiled kernels, and what is known of one: plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graders.judge.plan.steps import Kernel, Launch
from triton_util.explain.loads import Load


@dataclass(frozen=True)
class CompiledLaunch:
    """One launch of a case as the compiler makes it for one target (sm number).

    `args` are the case's, tensors as TensorSpec. `threads` is the number of threads of a program,
    0 where the PTX does not say it. `loads` pairs each load with the number of the launcher's
    argument that it reads. `unplaced` are loads whose argument is not known. `assembled` asks
    ptxas how many bytes are spilled.
    """

    args: tuple[Any, ...]
    kernel: Kernel
    launch: Launch
    target: int
    threads: int
    loads: tuple[tuple[int, Load], ...]
    unplaced: tuple[Load, ...]
    assembled: Callable[[], int]

    @property
    def spill_bytes(self) -> int:
        """How many bytes a thread spills. Asking ptxas may take a while."""
        return self.assembled()

    def loads_from(self, place: int) -> list[Load]:
        """The loads from one argument of the launcher."""
        return [load for at, load in self.loads if at == place]


@dataclass(frozen=True)
class BrokenPromise:
    """How a promise is broken: what is said of it, and the line of the submission."""

    said: str
    line: int | None = None


@dataclass(frozen=True)
class CompilerRequirement:
    """What a contract says of the compiled kernels. Who breaks it has half of the points.

    `where(*args)` says in which public cases, TensorSpec for a tensor; `broken` looks at each
    launch of theirs, for each target, and gives None where the promise is kept. Of the
    configurations of an autotuner one that keeps it is enough.
    """

    code: str
    title: str
    message: str
    next_step: str
    where: Callable[..., bool]
    broken: Callable[[CompiledLaunch], BrokenPromise | None]
