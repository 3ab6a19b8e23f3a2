"""Runs launches under the checked interpreter on a CPU, or unchecked on a GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch

from graders.judge.sandbox.protocol import JobPlan


class Run(Protocol):
    """Information about the launches inside one `running` block."""

    launches: list[Any]
    faults: list[Any]
    aims: Any
    programs: Any

    def never_stored(self, out: torch.Tensor) -> np.ndarray[Any, Any] | None:
        """Return a bool array shaped like `out`, True where no kernel stored; None if unknown."""

    def forget_stores(self, view: torch.Tensor) -> None:
        """Mark all elements of the view as not stored by a kernel, until the next launch."""


class _Unchecked:
    """For a GPU: the hardware runs the kernels, without checks."""

    def __init__(self) -> None:
        self.launches: list[Any] = []
        self.faults: list[Any] = []
        self.aims: Any = None
        self.programs: Any = None

    def never_stored(self, out: torch.Tensor) -> None:
        return None

    def forget_stores(self, view: torch.Tensor) -> None:
        """Do nothing: a GPU has no map of stores."""


@contextlib.contextmanager
def ready(device: str) -> Iterator[None]:
    """Do the setup that many `running` blocks inside this block share."""
    if device == "cuda":
        yield
        return
    from triton_util.interpreter import patched_language

    with patched_language():
        yield


@contextlib.contextmanager
def running(job: JobPlan, device: str) -> Iterator[Run]:
    """Run the launches inside the block as the job says; raise fatal faults as exceptions."""
    if device == "cuda":
        yield _Unchecked()
        return
    # Not on a GPU: there, triton is imported without TRITON_INTERPRET.
    from triton_util.interpreter import EngineOptions, interpret

    options = EngineOptions(
        schedule=job.schedule,  # type: ignore[arg-type]  # checked there
        memory_bytes=job.memory_bytes,
        traffic=job.traffic,
        tf32=job.tf32,
        programs=job.programs,
    )
    with interpret(options) as run:
        yield run
