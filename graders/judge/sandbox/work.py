"""Jobs for a worker and their outcomes, in the judge process."""

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

NO_STEPS = "[]"


@dataclass(frozen=True)
class Work:
    """The work of a job: a submission's kernels, and the steps of its plan for one case.

    `steps` is a text from `plan.steps`. So is `earlier`: the steps that made the memory of the
    module and of earlier cases. `needs` are the storages of that memory which the case uses.
    Jobs share these texts.
    """

    source: str
    filename: str
    kernels: Sequence[Any]
    steps: str
    result: Any
    inputs: tuple[int | None, ...]
    earlier: str = NO_STEPS
    needs: tuple[int, ...] = ()
    keep: tuple[int, ...] = ()
    timing: dict[str, Any] | None = None

    @cached_property
    def key(self) -> str:
        """Return a digest of source and kernels: equal keys share the binaries compiled ahead."""
        text = json.dumps([self.source, self.filename, list(self.kernels)])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def submission(self) -> tuple[str, int]:
        """Return an identifier of the submission: only its own jobs share a process."""
        return self.source, id(self.kernels)


@dataclass(frozen=True)
class Drawn:
    """A tensor argument whose values the worker draws on its GPU, from a normal distribution.

    Its fields are the layout of the view and the length of its storage, in elements.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    length: int
    dtype: torch.dtype
    draw: Draw

    def place(self, region: Region) -> TensorPlace:
        """Return the description for a worker."""
        name = protocol.dtype_name(self.dtype)
        return TensorPlace(region, name, self.shape, self.strides, self.offset, self.draw)


@dataclass(frozen=True)
class Job:
    """One case of a launch plan. `args` are CPU tensors (any view), Drawn ones, and scalars.

    `out_dtype` is the dtype of the result, or "any-integer". `seconds` limits CPU time, or wall
    time on a GPU. `memory_bytes` is what the worker may allocate in addition to what it starts
    with. The other fields are those of `protocol.JobPlan`.
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
    """How one job ended. Only `output` decides a grade; the rest explains it.

    `output` and `never_stored` are the judge's own copies, present if `status` is "returned".
    `again` is true where a program stored in a later round of a loop; it is known only for jobs
    with `programs`. `ran` is None if the process did not report it. For the status
    "wrong-return", `returned` says in words what came back.
    """

    status: Status
    output: torch.Tensor | None = None
    never_stored: torch.Tensor | None = None
    again: torch.Tensor | None = None
    given: bool = True  # False: no launch ever got the memory of the result
    inputs_changed: tuple[int, ...] = ()
    faults: tuple[Fault, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    traffic: Mapping[str, Mapping[str, int]] | None = None
    error: Fault | None = None
    returned: str = ""
    compiled: int = 0  # kernels that were compiled while the GPU waited
    ran: Mapping[str, frozenset[int]] | None = None  # arms of branches, see `plan.arms`
    sides: frozenset[int] = frozenset()  # of decisions, see `plan.decisions`
    seconds: float = 0.0
    signal: str = ""
