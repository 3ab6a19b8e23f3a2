"""Runs one batch of jobs in a forked, jailed process, which the judge does not trust.

Whatever the submission does to this process, the only output is bytes in the shared memory.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from graders.judge.plan import timing
from graders.judge.plan.gpu_compiling import CompiledHere, announce_compiling
from graders.judge.plan.kernels import Kernels
from graders.judge.plan.reader import kernels_from_json, steps_from_text
from graders.judge.plan.replay import Replay
from graders.judge.plan.steps import Constant, ref_of
from graders.judge.sandbox import engine, job_report, protocol
from graders.judge.sandbox.job_tensors import HostMemory, Memory
from graders.judge.sandbox.job_tensors_gpu import DeviceMemory, draw_into
from graders.judge.sandbox.protocol import BatchPlan, Header, JobPlan, Status
from graders.judge.sandbox.serving import Nowhere


class Reporter:
    """Writes the header and the report of the current job into the shared memory."""

    def __init__(self, shared: mmap.mmap, compiled: CompiledHere | None = None) -> None:
        self._shared = shared
        self._compiled = compiled

    def begin(self, job: JobPlan) -> None:
        """Begin a job, which is loading; later calls are about this job."""
        self._job = job
        self.start(protocol.LOADING)

    def start(self, state: int) -> None:
        """Begin a part of the job, and start its time."""
        self.started = time.monotonic()
        self.state(state)

    def state(self, state: int) -> None:
        self._write(Header(state=state, started=self.started))

    def compiling(self, what: str, line: int) -> None:
        """Record what is being compiled, in case the process dies."""
        found = {"code": "compile-timeout", "message": f"It was at {what}.", "line": line}
        self._report(job_report.encode({"error": found}, protocol.REPORT_BYTES - 1))
        self.state(protocol.COMPILING)

    def done(self, status: Status, report: dict[str, Any], dtype: int = 0, stored: int = 0) -> None:
        """End the job; its report also says how many kernels were compiled in it."""
        if self._compiled is not None:
            report["compiled"] = self._compiled.taken()
        self._report(job_report.encode(report, protocol.REPORT_BYTES - 1))
        code = protocol.CLAIMABLE.index(status)
        seconds = time.monotonic() - self.started
        self._write(Header(protocol.DONE, code, dtype, stored, self.started, seconds))

    def _report(self, raw: bytes) -> None:
        raw += b"\0"  # the rest of a longer report may follow it
        self._shared[self._job.report : self._job.report + len(raw)] = raw

    def _write(self, header: Header) -> None:
        raw = header.pack()
        self._shared[self._job.header : self._job.header + len(raw)] = raw


def run_jobs(plan: BatchPlan, shared: mmap.mmap, device: protocol.Device) -> None:
    """Run the jobs of the plan in order; the process is already in its jail."""
    sys.stdout = sys.stderr = Nowhere()
    timed = plan.jobs[0].schedule == protocol.TIMED
    if not timed:
        _poison_new_tensors()
    compiled = CompiledHere() if device == "cuda" else None
    reporter = Reporter(shared, compiled)
    memory: Memory
    if compiled is not None:
        compiled.install()
        if not timed:
            announce_compiling(reporter.compiling, lambda: reporter.state(protocol.RUNNING))
    memory = DeviceMemory(shared, plan.memory_bytes) if device == "cuda" else HostMemory(shared)
    reporter.begin(plan.jobs[0])
    filename = plan.jobs[0].filename
    kernels = Kernels(plan.source, filename, kernels_from_json(plan.kernels))
    replay = Replay(kernels, filename, device, plan.memory_bytes, timed)
    with engine.ready(device):
        for job in plan.jobs:
            reporter.begin(job)
            memory.wake(job)
            reporter.start(protocol.RUNNING)
            if not _run_job(job, plan.texts, replay, memory, reporter):
                return


def guard(plan: BatchPlan, shared: mmap.mmap) -> None:
    """Protect the page after every region, so that a write past the region's end faults."""
    libc = ctypes.CDLL(None, use_errno=True)
    base = ctypes.addressof(ctypes.c_char.from_buffer(shared))
    for job in plan.jobs:
        for region in job.regions():
            libc.mprotect(ctypes.c_void_p(base + region.end), ctypes.c_size_t(protocol.PAGE), 0)


def _poison_new_tensors() -> None:
    """Make torch.empty and similar return NaN or extreme integers, so forgotten stores show.

    This uses torch's deterministic mode. Its other effects are set to warnings, which are
    ignored here.
    """
    warnings.simplefilter("ignore")
    torch.set_deterministic_debug_mode("warn")
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]


def _run_job(
    job: JobPlan, texts: Sequence[str], replay: Replay, memory: Memory, reporter: Reporter
) -> bool:
    """Run one job and report it. Return False if the process cannot run another job."""
    report: dict[str, Any] = {}
    dtype = stored = 0
    status: Status = "returned"
    try:
        replay.release(job.keep)
        storages = memory.storages(job)
        if job.timing is not None:
            dtype = memory.store(job, _timed(job, texts, replay, storages))
            reporter.done(status, report, dtype)
            return True
        with engine.running(job, memory.device) as run:
            replay.begin(run, storages, job.keep)
            try:
                replay.prepare(steps_from_text(texts[job.earlier]), job.needs)
                replay.steps(steps_from_text(texts[job.steps]))
                memory.synchronize()
            except BaseException:
                if job.programs:
                    report["pointed"] = job_report.pointed(run, None)
                raise
            finally:
                report |= job_report.launches(run, job)
                report["ran"] = {alike: sorted(arms) for alike, arms in replay.ran.items()}
                report["sides"] = sorted(replay.sides)
        # After the engine has ended, because it would check every torch operation.
        view = ref_of(job.result)
        assert view is not None, "the judge sends no job without a result"
        dtype = memory.store(job, replay.tensor(view))
        if memory.device == "cpu":
            stored = protocol.NOT_GIVEN
            unstored = replay.never_stored(view)
            if unstored is not None:
                again = job_report.stored_again(run, replay.tensor(view)) if job.programs else None
                stored = memory.store_map(job, unstored, again)
                if job.traffic or bool(unstored.any()):
                    report["aim"] = job_report.aim(run, replay.tensor(view))
                if job.programs:
                    report["pointed"] = job_report.pointed(run, replay.tensor(view))
                    report["loads"] = job_report.loads(run, replay.tensor(view))
    except BaseException as error:
        status = job_report.status(error)
        report["error"] = job_report.error(error, job)
        reporter.done(status, report)
        return memory.usable_after(error)
    reporter.done(status, report, dtype, stored)
    return True


class _Timed:
    """A job's plan, executed many times. See `timing.TimedPlan`."""

    def __init__(self, job: JobPlan, texts: Sequence[str], replay: Replay) -> None:
        self.replay = replay
        self.earlier = steps_from_text(texts[job.earlier])
        self.steps = steps_from_text(texts[job.steps])
        self.needs = job.needs
        view = ref_of(job.result)
        assert view is not None, "the judge sends no job without a result"
        self.view = view
        self.inputs: frozenset[int] = frozenset()

    def ready(self, inputs: dict[int, torch.Tensor]) -> None:
        self.inputs = frozenset(inputs)
        self.replay.begin(None, inputs, ())
        self.replay.prepare(self.earlier, self.needs)
        self.replay.steps([step for step in self.steps if isinstance(step, Constant)])

    def perform(self, tables: bool = True) -> torch.Tensor:
        self.replay.steps([s for s in self.steps if tables or not isinstance(s, Constant)])
        return self.replay.tensor(self.view)

    def forget(self) -> None:
        for number, storage in self.replay.storages.items():
            if number not in self.inputs:
                storage.view(torch.uint8).fill_(255)


def _timed(
    job: JobPlan, texts: Sequence[str], replay: Replay, storages: dict[int, torch.Tensor]
) -> torch.Tensor:
    """Return the times of a plan, or its last output after many calls."""
    drawable = [
        (number, arg)
        for number, arg in zip(job.inputs, job.args, strict=True)
        if number is not None and isinstance(arg, protocol.TensorPlace) and arg.draw is not None
    ]

    def draw(placed: dict[int, torch.Tensor], seed: int) -> None:
        for number, arg in drawable:
            if number in placed:
                draw_into(placed[number], arg, seed + number)

    assert job.timing is not None
    return timing.timed(_Timed(job, texts, replay), storages, job.timing, draw)
