"""The protocol between the judge and its workers, fixed before any untrusted code runs.

One shared memory per batch contains all data that they exchange, at places that the judge
chooses: a fixed header per job, the storages of the inputs, one slot for each output, one byte
per output element for the engine's writer map, and a bounded report. A worker can write wrong
data there, but do no other harm: the judge unpickles nothing and reads no sizes from it.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import signal
import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import torch

from graders.judge.jail.jail import Device as Device
from graders.judge.sandbox.serving import Ending
from triton_util.plain_data import read

PAGE = mmap.PAGESIZE
ALIGNMENT = 64  # of every storage, as torch's own allocator aligns
REPORT_BYTES = 64 * 1024
# A child that sleeps is ended early (`jail.sleep`). If a child has CPU time left after this many
# times its limit in wall time, the machine is overloaded, which is not the submission's fault.
PATIENCE = 20.0

Status = Literal[
    "returned",
    "raised",
    "timeout",
    "asleep",
    "crashed",
    "exited",
    "out-of-memory",
    "wrong-return",
    "no-room",
    "not-run",
]
CLAIMABLE: tuple[Status, ...] = (
    "returned",
    "raised",
    "exited",
    "out-of-memory",
    "wrong-return",
    "crashed",
    "no-room",
)

TIMED = "timed"  # a schedule for GPUs: unmodified Triton and torch

# A job's progress, in its header. COMPILING is a part of running, on a GPU.
WAITING, LOADING, RUNNING, COMPILING, DONE = range(5)

# The state of the map of stored elements, in a job's header: there is none, it is there, or no
# launch and no copy ever got the memory of the result.
NO_MAP, MAPPED, NOT_GIVEN = range(3)
# The map's values for an element; STORED_AGAIN is used only if the round matters.
STORED, NEVER_STORED, STORED_AGAIN = range(3)

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
ANY_INTEGER = "any-integer"
_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
}

_HEADER = struct.Struct("=IIIIdd")
HEADER_BYTES = 64
_OUTCOMES: dict[str, Status] = {
    "timeout": "timeout",
    "batch-timeout": "timeout",
    "asleep": "asleep",
    "memory": "out-of-memory",
}


@dataclass(frozen=True)
class Header:
    """A job's header, which the worker writes and the judge does not trust.

    `started` is CLOCK_MONOTONIC in seconds, `seconds` the time that the launcher took;
    `dtype` indexes INTEGERS if the exercise accepts any integer.
    """

    state: int = WAITING
    status: int = 0
    dtype: int = 0
    stored: int = NO_MAP
    started: float = 0.0
    seconds: float = 0.0

    def pack(self) -> bytes:
        return _HEADER.pack(
            self.state, self.status, self.dtype, self.stored, self.started, self.seconds
        )

    @classmethod
    def unpack(cls, raw: bytes) -> Header:
        return cls(*_HEADER.unpack(raw[: _HEADER.size]))


@dataclass(frozen=True)
class Region:
    """`length` bytes from `start`, ending at a guard page; `begin` is its first page.

    `ranges` are the parts that are copied, relative to `start`: all of it, or, in a storage
    of gigabytes, only what the view touches.
    """

    begin: int
    start: int
    length: int
    ranges: tuple[tuple[int, int], ...] = ()

    @property
    def end(self) -> int:
        """Return the offset of the guard page."""
        return _up(self.start + self.length, PAGE)


@dataclass(frozen=True)
class Draw:
    """Normally distributed values that each process draws on the GPU, so none are copied.

    The same seed gives the same values in every process with the same torch and GPU.
    """

    seed: int
    scale: float = 1.0
    shift: float = 0.0


@dataclass(frozen=True)
class TensorPlace:
    """A tensor argument: a view, in elements, into the storage in a region.

    With `draw` the region is empty: the values are drawn on the device.
    """

    region: Region
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    draw: Draw | None = None


@dataclass(frozen=True)
class JobPlan:
    """How to run one job, and where its data is in shared memory. It has no expected values.

    `steps` and `earlier` index the batch's texts: the launch plan's steps for this case, and the
    steps that made memory before it. `needs` are the storages of that memory which the case
    uses. `inputs` are the numbers of the arguments' storages. `keep` are the numbers of storages
    that outlive the case that made them. `result` is the view that the launcher returned.
    """

    filename: str
    steps: int
    earlier: int
    needs: tuple[int, ...]
    inputs: tuple[int | None, ...]
    keep: tuple[int, ...]
    result: Any
    args: tuple[TensorPlace | int | float | bool, ...]
    out: Region
    out_shape: tuple[int, ...]
    out_dtype: str
    stored: Region
    header: int
    report: int
    schedule: str
    traffic: bool
    seconds: float
    memory_bytes: int
    tf32: bool = True  # the default of tl.dot for fp32 on a GPU
    programs: bool = False  # report what each program points at
    timing: dict[str, Any] | None = None  # with the schedule TIMED, see `timing`

    def regions(self) -> Iterator[Region]:
        for arg in self.args:
            if isinstance(arg, TensorPlace):
                yield arg.region
        yield self.out
        yield self.stored


@dataclass(frozen=True)
class JobLimits:
    """The offset of a job's header, and the seconds that the job may take."""

    header: int
    seconds: float


def outcome_of(ending: Ending) -> tuple[Status, str]:
    """Return the outcome of the job that was not finished, and the name of the signal."""
    if ending.reason in _OUTCOMES:
        return _OUTCOMES[ending.reason], ""
    if not os.WIFSIGNALED(ending.status):
        return "exited", ""
    number = os.WTERMSIG(ending.status)
    if number == signal.SIGXCPU:
        return "timeout", "SIGXCPU"
    if number == signal.SIGKILL:  # not from us: the kernel was out of memory
        return "out-of-memory", "SIGKILL"
    name = signal.strsignal(number) or ""
    with contextlib.suppress(ValueError):
        name = signal.Signals(number).name
    return "crashed", name


class Message:
    """A record that crosses to the warm process, or to its fork."""

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()  # type: ignore[call-overload]

    @classmethod
    def from_json(cls, raw: bytes) -> Self:
        return read(cls, json.loads(raw))


@dataclass(frozen=True)
class Limits(Message):
    """What the warm process knows of a batch: its limits, but not its content."""

    jobs: tuple[JobLimits, ...]
    seconds: float
    memory_bytes: int
    key: str = ""  # names the submission, whose binaries the child gets
    next_at_once: bool = False  # another batch follows at once, with the GPU's lock still held


@dataclass(frozen=True)
class BatchPlan(Message):
    """The jobs that one fork runs, one after another. All are of one submission.

    `kernels` are the kernels of its launch plan in JSON, `source` the text that contains them.
    `texts` are the steps of the jobs, without duplicates.
    """

    source: str
    kernels: list[Any]
    texts: tuple[str, ...]
    jobs: tuple[JobPlan, ...]
    total: int  # bytes of the shared memory
    seconds: float  # for the whole batch
    memory_bytes: int
    key: str = ""

    @property
    def limits(self) -> Limits:
        """Return the part that the warm process may know."""
        jobs = tuple(JobLimits(job.header, job.seconds) for job in self.jobs)
        return Limits(jobs, self.seconds, self.memory_bytes, self.key)


@dataclass(frozen=True)
class BuildOrder:
    """An order to compile ahead: the submission's key, how many processes, and their limits.

    `seconds` is wall time for all processes together, `memory_bytes` is for each of them.
    """

    key: str
    processes: int
    seconds: float
    memory_bytes: int

    def to_json(self) -> bytes:
        return json.dumps({"build": asdict(self)}).encode()

    @classmethod
    def in_message(cls, raw: bytes) -> BuildOrder | None:
        """Return the order in a message; None if the message is a batch."""
        order = json.loads(raw).get("build")
        return None if order is None else cls(**order)


class Layout:
    """Allocates places in the shared memory, from the front to the back."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._reports = _up(HEADER_BYTES * jobs, PAGE)
        self._next = self._reports + REPORT_BYTES * jobs + PAGE

    def header(self, job: int) -> int:
        return HEADER_BYTES * job

    def report(self, job: int) -> int:
        return self._reports + REPORT_BYTES * job

    def region(self, length: int, ranges: Sequence[tuple[int, int]] | None = None) -> Region:
        """Allocate `length` bytes that end as near to a guard page as alignment allows."""
        begin = self._next
        start = begin + _up(length, PAGE) - _up(length, ALIGNMENT)
        region = Region(begin, start, length, ((0, length),) if ranges is None else tuple(ranges))
        self._next = region.end + PAGE
        return region

    @property
    def total(self) -> int:
        return self._next


def dtype_name(dtype: torch.dtype) -> str:
    """Return the dtype's name: `float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def dtype_of(name: str) -> torch.dtype:
    """Return the dtype with this name: torch.float32 for `float32`."""
    return _DTYPES[name]


def elements(shape: Sequence[int]) -> int:
    """Return the number of elements of a tensor of that shape."""
    return torch.Size(shape).numel()


def out_bytes(shape: Sequence[int], dtype: str) -> int:
    """Return the bytes of an output slot; for "any-integer", those of the widest dtype."""
    size = 8 if dtype == ANY_INTEGER else dtype_of(dtype).itemsize
    return elements(shape) * size


def _up(value: int, unit: int) -> int:
    return (value + unit - 1) // unit * unit
