"""Plain data about a compiled kernel, and the requirements of a contract on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graders.judge.plan.steps import Kernel, Launch
from triton_util.explain.loads import Load


@dataclass(frozen=True)
class CompiledLaunch:
    """One launch of a case, compiled for one target (sm number).

    `args` are the case's, with tensors as TensorSpec. `threads` is the number of threads of a
    program, 0 if the PTX does not say it. `loads` pairs each load with the number of the
    launcher's argument that it reads. `unplaced` are loads of an unknown argument. `assembled`
    runs ptxas to get the number of spilled bytes.
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
        """Return how many bytes a thread spills. Running ptxas may take a while."""
        return self.assembled()

    def loads_from(self, place: int) -> list[Load]:
        """Return the loads from one argument of the launcher."""
        return [load for at, load in self.loads if at == place]


@dataclass(frozen=True)
class BrokenPromise:
    """How a requirement is broken: the message, and the line of the submission."""

    said: str
    line: int | None = None


@dataclass(frozen=True)
class CompilerRequirement:
    """A contract's requirement on compiled kernels. Breaking it costs half of the points.

    `where(*args)`, with a TensorSpec for a tensor, selects the public cases. `broken` checks each
    of their launches for each target, and returns None if it meets the requirement. For an
    autotuner, one configuration that meets it is enough.
    """

    code: str
    title: str
    message: str
    next_step: str
    where: Callable[..., bool]
    broken: Callable[[CompiledLaunch], BrokenPromise | None]
