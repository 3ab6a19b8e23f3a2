"""The judge's side of one batch: write the inputs, read the outputs, compare the inputs.

The judge keeps its own tensors, and reads a worker's results only after the worker is dead.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
from collections.abc import Iterator, Sequence

import torch

from graders.judge.records import GraderError
from graders.judge.sandbox import protocol, report_reader
from graders.judge.sandbox.protocol import (
    PAGE,
    BatchPlan,
    Header,
    JobPlan,
    Layout,
    Region,
    TensorPlace,
)
from graders.judge.sandbox.report_reader import WorkerReport
from graders.judge.sandbox.warm import in_memory
from graders.judge.sandbox.work import Drawn, Job, Outcome

_WHOLE_BYTES = 32 << 20  # storages up to this size are copied as a whole
_MOST_RANGES = 200_000
_CHUNK = 16 << 20
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Batch:
    """The shared memory of one fork: written before the fork starts, read after it is dead.

    All jobs have the same source, because two submissions never share a process.
    """

    def __init__(self, jobs: Sequence[Job], seconds: float) -> None:
        self._jobs = jobs
        self.plan = _Planner(jobs, seconds).plan()
        self.memory = _sealed_memory(self.plan.total)
        for job, placed in zip(jobs, self.plan.jobs, strict=True):
            for tensor, place in _tensors(job, placed):
                self._write(tensor, place.region)

    def close(self) -> None:
        """Free the shared memory."""
        os.close(self.memory)

    def request(self) -> int:
        """Return a descriptor of the plan, for the child of the warm process."""
        return in_memory(self.plan.to_json())

    def header(self, index: int) -> Header:
        """Return a job's progress, as its worker reports it."""
        return Header.unpack(
            os.pread(self.memory, protocol.HEADER_BYTES, self.plan.jobs[index].header)
        )

    def done(self) -> int:
        """Return how many jobs the worker reports as done; 0 if the batch is closed."""
        try:
            states = [self.header(index).state for index in range(len(self.plan.jobs))]
        except OSError:
            return 0
        return next((i for i, s in enumerate(states) if s != protocol.DONE), len(states))

    def outcome(self, index: int) -> Outcome:
        """Read the outcome of a job that is done. Sizes and offsets come from the judge's plan."""
        job, placed, header = self._jobs[index], self.plan.jobs[index], self.header(index)
        known = header.status < len(protocol.CLAIMABLE)
        status = protocol.CLAIMABLE[header.status] if known else "crashed"
        output = never_stored = again = None
        if status == "returned":
            output = self._output(placed, header)
            if header.stored == protocol.MAPPED:
                codes = self._read(placed.stored, placed.out_shape, torch.uint8)
                again = codes == protocol.STORED_AGAIN
                never_stored = (codes != protocol.STORED) & ~again
        return Outcome(
            status=status,
            output=output,
            never_stored=never_stored,
            again=again,
            given=header.stored != protocol.NOT_GIVEN,
            inputs_changed=self.inputs_changed(index),
            seconds=min(max(header.seconds, 0.0), job.seconds) if header.seconds > 0 else 0.0,
            **vars(self.report(index)),
        )

    def report(self, index: int) -> WorkerReport:
        """Return the validated report of one job."""
        place = self.plan.jobs[index].report
        return report_reader.parse(os.pread(self.memory, protocol.REPORT_BYTES, place))

    def inputs_changed(self, index: int) -> tuple[int, ...]:
        """Return the positions of tensor arguments whose storage (gaps included) changed."""
        job, placed = self._jobs[index], self.plan.jobs[index]
        return tuple(
            position
            for position, (arg, place) in enumerate(zip(job.args, placed.args, strict=True))
            if isinstance(arg, torch.Tensor)
            and isinstance(place, TensorPlace)
            and self._changed(arg, place.region)
        )

    def _write(self, tensor: torch.Tensor, region: Region) -> None:
        for chunk, place in _chunks(tensor, region):
            written = os.pwrite(self.memory, chunk, place)
            if written != len(chunk):
                raise GraderError("the shared memory for the inputs is full: free some memory")

    def _changed(self, tensor: torch.Tensor, region: Region) -> bool:
        for chunk, place in _chunks(tensor, region):
            if os.pread(self.memory, len(chunk), place) != bytes(chunk):
                return True
        return any(
            any(os.pread(self.memory, last - first, first))
            for first, last in self._data_between(region)
        )

    def _data_between(self, region: Region) -> Iterator[tuple[int, int]]:
        """Yield the parts of the region outside its ranges that now have pages; all were 0."""
        position = region.begin
        borders = [(region.start + a, region.start + b) for a, b in region.ranges]
        for first, last in [*borders, (region.end, region.end)]:
            yield from _data(self.memory, position, first)
            position = last

    def _output(self, placed: JobPlan, header: Header) -> torch.Tensor:
        if placed.out_dtype == protocol.ANY_INTEGER:
            dtype = protocol.INTEGERS[header.dtype % len(protocol.INTEGERS)]
        else:
            dtype = protocol.dtype_of(placed.out_dtype)
        return self._read(placed.out, placed.out_shape, dtype)

    def _read(self, region: Region, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        tensor = torch.empty(shape, dtype=dtype)
        size = tensor.numel() * dtype.itemsize
        if size:
            buffer = memoryview(_bytes_of(tensor, 0, size))
            done = 0
            while done < size:
                done += os.preadv(self.memory, [buffer[done:]], region.start + done)
        if dtype == torch.bool:  # a byte other than 0 and 1 is an invalid bool
            return tensor.view(torch.uint8) != 0
        return tensor


class _Planner:
    """Chooses all places in the shared memory; tensors that share a storage share a region."""

    def __init__(self, jobs: Sequence[Job], seconds: float) -> None:
        self._jobs = jobs
        self._seconds = seconds
        self._layout = Layout(len(jobs))
        self._texts: dict[str, int] = {}  # and the place of each

    def plan(self) -> BatchPlan:
        placed = tuple(self._place(index, job) for index, job in enumerate(self._jobs))
        return BatchPlan(
            source=self._jobs[0].work.source,
            kernels=list(self._jobs[0].work.kernels),
            texts=tuple(self._texts),
            jobs=placed,
            total=self._layout.total,
            seconds=self._seconds,
            memory_bytes=max(job.memory_bytes for job in self._jobs),
            key=self._jobs[0].work.key,
        )

    def _place(self, index: int, job: Job) -> JobPlan:
        regions: dict[int, Region] = {}
        dtype = (
            protocol.dtype_name(job.out_dtype)
            if isinstance(job.out_dtype, torch.dtype)
            else protocol.ANY_INTEGER
        )
        return JobPlan(
            filename=job.work.filename,
            steps=self._text(job.work.steps),
            earlier=self._text(job.work.earlier),
            needs=job.work.needs,
            inputs=job.work.inputs,
            keep=job.work.keep,
            result=job.work.result,
            args=tuple(self._argument(arg, job, regions) for arg in job.args),
            out=self._layout.region(protocol.out_bytes(job.out_shape, dtype)),
            out_shape=tuple(job.out_shape),
            out_dtype=dtype,
            stored=self._layout.region(protocol.elements(job.out_shape)),
            header=self._layout.header(index),
            report=self._layout.report(index),
            schedule=job.schedule,
            traffic=job.traffic,
            tf32=job.tf32,
            programs=job.programs,
            seconds=job.seconds,
            memory_bytes=job.memory_bytes,
            timing=job.work.timing,
        )

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _argument(
        self, arg: torch.Tensor | Drawn | int | float | bool, job: Job, regions: dict[int, Region]
    ) -> TensorPlace | int | float | bool:
        if isinstance(arg, Drawn):
            return arg.place(self._layout.region(arg.length * arg.dtype.itemsize, ()))
        if not isinstance(arg, torch.Tensor):
            return arg
        storage = arg.untyped_storage()
        key = storage.data_ptr()
        if key not in regions:
            sharing = [
                other
                for other in job.args
                if isinstance(other, torch.Tensor) and other.untyped_storage().data_ptr() == key
            ]
            regions[key] = self._layout.region(storage.nbytes(), touched(sharing))
        return TensorPlace(
            regions[key],
            protocol.dtype_name(arg.dtype),
            tuple(arg.shape),
            tuple(arg.stride()),
            int(arg.storage_offset()),
        )


def touched(tensors: Sequence[torch.Tensor]) -> list[tuple[int, int]]:
    """Return the byte ranges of the common storage that must be copied: disjoint, sorted.

    This is the whole storage if it is small, otherwise only what the views touch. So a view with
    offsets above 2**31 costs no more than its elements.
    """
    length = tensors[0].untyped_storage().nbytes()
    if length <= _WHOLE_BYTES:
        return [(0, length)] if length else []
    ranges = sorted(span for tensor in tensors for span in _spans(tensor))
    merged: list[tuple[int, int]] = []
    for first, last in ranges:
        if merged and first <= merged[-1][1] + PAGE:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _spans(tensor: torch.Tensor) -> list[tuple[int, int]]:
    """Return the byte ranges of one view; ranges within a page of each other are merged."""
    if not tensor.numel():
        return []
    size = tensor.element_size()
    run = size
    outer: list[tuple[int, int]] = []
    for stride, count in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if stride * size <= run + PAGE and not outer:
            run += (count - 1) * stride * size
        elif count > 1:
            outer.append((stride * size, count))
    starts = [int(tensor.storage_offset()) * size]
    for step, count in outer:
        if len(starts) * count > _MOST_RANGES:
            return [(0, tensor.untyped_storage().nbytes())]
        starts = [start + index * step for start in starts for index in range(count)]
    return [(start, start + run) for start in starts]


def _tensors(job: Job, placed: JobPlan) -> Iterator[tuple[torch.Tensor, TensorPlace]]:
    """Yield each storage of the job once."""
    seen: set[int] = set()
    for arg, place in zip(job.args, placed.args, strict=True):
        if not isinstance(arg, torch.Tensor) or not isinstance(place, TensorPlace):
            continue
        if place.region.begin not in seen:
            seen.add(place.region.begin)
            yield arg, place


def _chunks(tensor: torch.Tensor, region: Region) -> Iterator[tuple[memoryview, int]]:
    """Yield the copied bytes of the storage, with their offsets in the shared memory."""
    for first, last in region.ranges:
        for start in range(first, last, _CHUNK):
            size = min(_CHUNK, last - start)
            yield memoryview(_bytes_of(tensor, start, size)), region.start + start


def _bytes_of(tensor: torch.Tensor, start: int, size: int) -> ctypes.Array[ctypes.c_char]:
    """Return a view of bytes of the tensor's storage; valid as long as the tensor lives."""
    return (ctypes.c_char * size).from_address(tensor.untyped_storage().data_ptr() + start)


def _data(memory: int, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the parts between first and last that have pages, in chunks."""
    position = first
    while position < last:
        try:
            position = os.lseek(memory, position, os.SEEK_DATA)
        except OSError:  # only a hole up to the end
            return
        end = min(os.lseek(memory, position, os.SEEK_HOLE), last)
        while position < end:
            step = min(position + _CHUNK, end)
            yield position, step
            position = step


def _sealed_memory(size: int) -> int:
    """Return shared memory of a fixed, sealed size. Pages take memory when first touched."""
    try:
        memory = os.memfd_create("tilewise-batch", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except (OSError, AttributeError) as error:
        raise GraderError(
            f"this system gives no shared memory (memfd_create: {error}): "
            "submissions are run on Linux only"
        ) from error
    try:
        os.ftruncate(memory, size)
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEALS)
    except OSError as error:
        os.close(memory)
        raise GraderError(f"no shared memory of {size} bytes: {error}") from error
    return memory
