"""What there is to do for a worker, as the judge says it, and what became of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch

from graders.judge.records import Fault, LaunchFacts
from graders.judge.sandbox import protocol
from graders.judge.sandbox.protocol import Draw, Region, Status, TensorPlace


@dataclass(frozen=True)
class Work:
    """What a job does: the kernels of a submission, and the steps of its plan for one case.

    Everything but `source` and `filename` is JSON, see `plan.steps`.
    """

    source: str
    filename: str
    kernels: Sequence[Any]
    steps: Sequence[Any]
    result: Any
    inputs: tuple[int | None, ...]
    earlier: Sequence[Any] = ()
    keep: tuple[int, ...] = ()
    timing: dict[str, Any] | None = None

    @cached_property
    def key(self) -> str:
        """What it compiles: binaries made for equal keys are equal."""
        text = json.dumps([self.source, self.filename, list(self.kernels)])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def submission(self) -> tuple[str, int]:
        """What jobs that may share a process have in common."""
        return self.source, id(self.kernels)


@dataclass(frozen=True)
class Drawn:
    """A tensor argument whose normally distributed values a GPU draws: the layout of the view,
    in elements, and the length of its storage.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    length: int
    dtype: torch.dtype
    draw: Draw

    def place(self, region: Region) -> TensorPlace:
        """The argument as a worker is told of it."""
        name = protocol.dtype_name(self.dtype)
        return TensorPlace(region, name, self.shape, self.strides, self.offset, self.draw)


@dataclass(frozen=True)
class Job:
    """One case of a launch plan. `args` are CPU tensors (any view), Drawn ones, and scalars.

    `work` is what there is to do (see `protocol.JobPlan`); `out_dtype` is the dtype of the
    result, or "any-integer". `seconds` is time of the processor, on a GPU wall time.
    `memory_bytes` is what the worker may allocate beyond what it starts with.
    """

    work: Work
    args: tuple[torch.Tensor | Drawn | int | float | bool, ...]
    out_shape: tuple[int, ...]
    out_dtype: torch.dtype | Literal["any-integer"]
    schedule: str = "grid"
    traffic: bool = False
    tf32: bool = True
    programs: bool = False
    seconds: float = 10.0
    memory_bytes: int = 2 << 30


@dataclass(frozen=True)
class Outcome:
    """What became of one job. Only `output` decides a grade; the rest explains.

    `output` and `never_stored` are the judge's own copies, present where status is
    "returned"; `returned` says in words what came back where it was "wrong-return".
    """

    status: Status
    output: torch.Tensor | None = None
    never_stored: torch.Tensor | None = None
    given: bool = True  # False: no launch was ever given the memory of the result
    inputs_changed: tuple[int, ...] = ()
    faults: tuple[Fault, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    traffic: Mapping[str, Mapping[str, int]] | None = None
    error: Fault | None = None
    returned: str = ""
    compiled: int = 0  # kernels for which the GPU waited
    seconds: float = 0.0
    signal: str = ""
