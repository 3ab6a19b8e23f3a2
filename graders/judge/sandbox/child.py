"""Runs one batch of jobs in a forked, jailed process. Everything in here is untrusted.

Whatever the submission does to this process, all that leaves it is bytes in the shared memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import linecache
import mmap
import sys
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import torch

from graders.judge.sandbox import engine, job_report, protocol
from graders.judge.sandbox.gpu_launches import announce_compiling, tune_by_turns
from graders.judge.sandbox.job_tensors import HostMemory, Memory
from graders.judge.sandbox.job_tensors_gpu import DeviceMemory
from graders.judge.sandbox.protocol import BatchPlan, Header, JobPlan, Status

STDOUT_CHARACTERS = 16_000
MODULE = "submission"


class Reporter:
    """Writes headers and reports into the shared memory, those of the job that has begun."""

    def __init__(self, shared: mmap.mmap) -> None:
        self._shared = shared

    def begin(self, job: JobPlan) -> None:
        """From here on it is about this job, which is loading."""
        self._job = job
        self.start(protocol.LOADING)

    def start(self, state: int) -> None:
        """The time of this part of the job counts from here."""
        self.started = time.monotonic()
        self.state(state)

    def state(self, state: int) -> None:
        self._write(Header(state=state, started=self.started))

    def compiling(self, what: str, line: int) -> None:
        """Say so, and what it was should no more be heard of it."""
        found = {"code": "compile-timeout", "message": f"It was at {what}.", "line": line}
        self._report(job_report.encode({"error": found}, protocol.REPORT_BYTES - 1))
        self.state(protocol.COMPILING)

    def done(self, status: Status, report: dict[str, Any], dtype: int = 0, stored: int = 0) -> None:
        self._report(job_report.encode(report, protocol.REPORT_BYTES - 1))
        code = protocol.CLAIMABLE.index(status)
        seconds = time.monotonic() - self.started
        self._write(Header(protocol.DONE, code, dtype, stored, self.started, seconds))

    def _report(self, raw: bytes) -> None:
        raw += b"\0"  # behind it may be the rest of a longer one
        self._shared[self._job.report : self._job.report + len(raw)] = raw

    def _write(self, header: Header) -> None:
        raw = header.pack()
        self._shared[self._job.header : self._job.header + len(raw)] = raw


class BoundedText(io.TextIOBase):
    """Keeps the first characters that are printed and drops the rest."""

    def __init__(self, limit: int) -> None:
        self._parts: list[str] = []
        self._room = limit

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        kept = text[: self._room]
        if kept:
            self._parts.append(kept)
            self._room -= len(kept)
        return len(text)

    def take(self) -> str:
        return "".join(self._parts)


def run_jobs(plan: BatchPlan, shared: mmap.mmap, device: protocol.Device) -> None:
    """Run the jobs of the plan in order; the process is in its jail already."""
    timed = plan.jobs[0].schedule == protocol.TIMED
    if not timed:
        _poison_new_tensors()
    reporter = Reporter(shared)
    memory: Memory
    if device == "cuda":
        if not timed:
            tune_by_turns()
            announce_compiling(reporter.compiling, lambda: reporter.state(protocol.RUNNING))
        memory = DeviceMemory(shared, plan.memory_bytes)
    else:
        memory = HostMemory(shared)
    launchers: dict[str, Callable[..., Any] | BaseException] = {}
    with contextlib.ExitStack() as between:
        for job in plan.jobs:
            stdout = BoundedText(STDOUT_CHARACTERS)
            sys.stdout = sys.stderr = stdout
            reporter.begin(job)
            if job.launcher not in launchers:
                between.close()  # a module finds triton as it is
                launchers[job.launcher] = _load(plan.source, job)
                between.enter_context(engine.ready(device))
            memory.wake(job)
            reporter.start(protocol.RUNNING)
            usable = _run_job(job, launchers[job.launcher], memory, reporter, stdout)
            if not usable:
                return


def guard(plan: BatchPlan, shared: mmap.mmap) -> None:
    """Make the page behind every region unreachable: a stray write past its end stops there."""
    libc = ctypes.CDLL(None, use_errno=True)
    base = ctypes.addressof(ctypes.c_char.from_buffer(shared))
    for job in plan.jobs:
        for region in job.regions():
            libc.mprotect(ctypes.c_void_p(base + region.end), ctypes.c_size_t(protocol.PAGE), 0)


def _poison_new_tensors() -> None:
    """torch.empty and friends give NaN or the extreme integer, so that forgotten stores show.

    This is torch's own switch; the other things that it does are turned into warnings,
    and those are of no interest here.
    """
    warnings.simplefilter("ignore")
    torch.set_deterministic_debug_mode("warn")
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]


def _load(source: str, job: JobPlan) -> Callable[..., Any] | BaseException:
    """The launcher, or what executing the source raised.

    triton.jit asks linecache for the source, which is why it is entered there.
    """
    module = types.ModuleType(MODULE)
    module.__file__ = job.filename
    sys.modules[MODULE] = module
    lines = source.splitlines(keepends=True)
    linecache.cache[job.filename] = (len(source), None, lines, job.filename)
    try:
        exec(compile(source, job.filename, "exec"), module.__dict__)
        launcher = module.__dict__[job.launcher]
    except KeyError:
        return NameError(f"the source defines no function {job.launcher!r}")
    except BaseException as error:
        return error
    return launcher  # type: ignore[no-any-return]


def _run_job(
    job: JobPlan,
    launcher: Callable[..., Any] | BaseException,
    memory: Memory,
    reporter: Reporter,
    stdout: BoundedText,
) -> bool:
    """Run one job and report it. False where the process is of no use after it."""
    report: dict[str, Any] = {}
    dtype = stored = 0
    status: Status
    try:
        if isinstance(launcher, BaseException):
            raise launcher
        args = memory.arguments(job)
        with engine.running(job, memory.device) as run:
            try:
                out = launcher(*args)
                memory.synchronize()
            finally:
                report |= job_report.launches(run, job)
            complaint = memory.complaint(job, args, out)
            if complaint:
                status, report["returned"] = "wrong-return", complaint
            else:
                dtype = memory.store(job, args, out)
                stored = memory.store_map(job, run.never_stored(out))
                status = "returned"
    except BaseException as error:
        status = job_report.status(error)
        report["error"] = job_report.error(error, job)
        reporter.done(status, {**report, "stdout": stdout.take()})
        return memory.usable_after(error)
    reporter.done(status, {**report, "stdout": stdout.take()}, dtype, stored)
    return True
