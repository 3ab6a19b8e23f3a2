"""The role of the warm process that runs jobs: a jailed fork for each batch.

Only the fork reads the batch's content, from a descriptor. The warm process reads only the headers
of jobs, which report their progress, to apply the time limits.
"""

from __future__ import annotations

import contextlib
import linecache
import mmap
import os
import select
import shutil
import socket
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from graders.judge.jail import imports, jail, probe
from graders.judge.jail.jail import Jail
from graders.judge.jail.sleep import Sleep
from graders.judge.plan import gpu_compiling, warm_kernel
from graders.judge.plan.kernels import Kernels
from graders.judge.plan.reader import kernels_from_json, steps_from_text
from graders.judge.plan.replay import Replay
from graders.judge.plan.steps import Allocate, Launch, ref_of, steps_to_text
from graders.judge.sandbox import engine, gpu_lock, job_tensors_gpu, protocol, run_task
from graders.judge.sandbox.ahead_compilers import AheadCompilers
from graders.judge.sandbox.protocol import BatchPlan, BuildOrder, Header, Limits
from graders.judge.sandbox.serving import Role, watch
from triton_util.plain_data import reading

# Before the first launch, a GPU's context takes time and memory; Triton's compiler takes more.
GPU_START_SECONDS = 30.0
GPU_MEMORY_BYTES = 4 << 30
LOCK_TICK_SECONDS = 0.01  # how often a waiting fork tries to take the GPU's lock
WAITING_CPU_SECONDS = 600.0  # CPU time of a fork until its request sets the limit
_IMPORTED_BEFOREHAND = (
    *("numpy", "numpy.testing", "triton", "triton.language", "triton.testing"),
    *("torch.nn.functional", "torch.testing", "torch.utils.deterministic"),
    # The course's helpers for kernels.
    *("triton_util.debugging", "triton_util.indexing", "triton_util.launching"),
)


@dataclass(frozen=True)
class _Allowance:
    """The time limit of a job or a batch that has run in the process `pid` since `started`."""

    pid: int
    seconds: float
    started: float  # of the monotonic clock
    processor_before: float  # CPU time that the process had used then

    def left(self, now: float, by_clock: bool) -> Literal["some", "none", "stalled"]:
        """Return whether time is left: wall time with `by_clock`, else CPU time.

        "stalled": after a long wait, the machine has given the process too little CPU time.
        """
        passed = now - self.started
        if passed <= self.seconds:
            return "some"
        if by_clock or jail.cpu_seconds(self.pid) - self.processor_before >= self.seconds:
            return "none"
        return "stalled" if passed > protocol.PATIENCE * self.seconds else "some"


def prepare(config: dict[str, Any], control: socket.socket) -> WarmWorkers:
    """Import everything that a submission may need, and warm up."""
    imports.codecs()
    imports.import_all(_IMPORTED_BEFOREHAND)
    # A process that forks after an OpenMP region leaves its children hanging.
    torch.set_num_threads(1)
    for kind in (Limits, BatchPlan):  # while their module is known, see `_forget_the_judge`
        reading(kind)
    return WarmWorkers(config, control)


class WarmWorkers(Role):
    """Runs a batch of jobs in each fork; on a machine with a GPU, also compiles ahead."""

    def __init__(self, config: dict[str, Any], control: socket.socket) -> None:
        self.device: protocol.Device = config["device"]
        self._scratch = Path(config["scratch"]) if config["scratch"] else None
        self._lock, self._at_once = Path(config["lock"]), False
        self._builders: AheadCompilers | None = None
        readable = [Path(config["root"]) / "triton_util"]
        self._jail = Jail(self.device, readable, self._scratch, config["without"])
        if self._scratch is None:
            _warm_up()
        else:
            gpu_compiling.preload(config["capability"])
            self._clear_scratch()
            inside = Jail("cuda", readable, self._scratch, config["without"], compiles_only=True)
            kept = Path(config["directory"]) / "binaries"
            self._builders = AheadCompilers(inside, self._scratch, kept, control)
        _forget_the_judge(config["root"])
        found = asdict(probe.probe(self._jail, Path(config["secret"])))
        super().__init__(control, {"threads": len(os.listdir("/proc/self/task")), **found})

    def answer(self, message: bytes, descriptors: list[int]) -> dict[str, Any]:
        order = BuildOrder.in_message(message)
        if order is not None:
            assert self._builders is not None
            return {"built": self._builders.make(order, descriptors[0], self._clear_scratch)}
        limits = Limits.from_json(message)
        self._at_once = limits.next_at_once
        self._clear_scratch()
        if self._builders is not None:
            self._builders.hand_out(limits.key)
        pid = self.forks.hand_over(message, descriptors)
        batch = _BatchLimits(limits, descriptors[1], pid, self.device)
        # A STOP that comes too late for a build must not end a batch.
        ending = watch([pid], self.control, batch.over, stops=False)
        self._clear_scratch()
        return asdict(ending)

    def rehearse(self, channel: socket.socket) -> None:
        if self.device == "cuda":
            self._wake_gpu(channel)

    def work(self, _message: bytes, descriptors: list[int], parent: int) -> None:
        request, memory = descriptors
        plan = BatchPlan.from_json(os.pread(request, os.fstat(request).st_size, 0))
        shared = mmap.mmap(memory, plan.total, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        run_task.guard(plan, shared)
        if self.device == "cuda":  # it entered its jail before the request came
            for descriptor in descriptors:
                os.close(descriptor)
            self._jail.seal(plan.seconds)
        else:
            _be_silent()
            self._jail.enter(plan.seconds, plan.memory_bytes, parent)
        run_task.run_jobs(plan, shared, self.device)
        os._exit(0)

    def _wake_gpu(self, channel: socket.socket) -> None:
        """In a fork that waits for a GPU request: enter the jail, and start the device.

        Starting the device would disturb a process that is timing, so the fork first takes the
        GPU's lock. It needs no lock if the judge already holds it: if a request for this fork
        has come, or the judge has said that one follows at once.
        """
        parent = os.getppid()
        lock = None
        while lock is None and not self._at_once:
            lock = gpu_lock.shared_at_once(self._lock)
            if lock is None and select.select([channel], [], [], LOCK_TICK_SECONDS)[0]:
                break
        _be_silent()
        kept = [channel.fileno(), *([] if lock is None else [lock])]
        self._jail.settle(WAITING_CPU_SECONDS, 0, parent, keep=kept)
        with contextlib.suppress(Exception):  # the first job will run into the error, and report it
            job_tensors_gpu.start_device()
        if lock is not None:
            os.close(lock)

    def _clear_scratch(self) -> None:
        """Empty the scratch directory, and make the next child's user its owner."""
        if self._scratch is None:
            return
        for entry in self._scratch.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
        if self._jail.uid is not None:
            os.chown(self._scratch, self._jail.uid, self._jail.uid)


class _BatchLimits:
    """The limits of a batch that runs in the fork `pid`, and of each of its jobs."""

    def __init__(self, limits: Limits, memory: int, pid: int, device: protocol.Device) -> None:
        self._limits = limits
        self._memory = memory
        self._pid = pid
        self._blocks = os.fstat(memory).st_blocks
        self._baseline = jail.resident_bytes(os.getpid())  # shared with the child
        self._job = 0
        self._sleep = Sleep(pid)
        self._on_gpu = on_gpu = device == "cuda"
        self._memory_bytes = limits.memory_bytes + (GPU_MEMORY_BYTES if on_gpu else 0)
        started = time.monotonic() + (GPU_START_SECONDS if on_gpu else 0.0)
        self._batch_time = self._allowance(limits.seconds, started)
        self._begin(started)
        self._waking = on_gpu
        self._compiling = False

    def over(self) -> str:
        """Return the limit that the fork exceeds now; "" if there is none."""
        now = time.monotonic()
        self._follow(now)
        if over := self._over_time(now):
            return over
        if self._bytes_used() > self._memory_bytes:
            return "memory"
        if not self._on_gpu and self._sleep.too_long():
            return "asleep"
        return ""

    def _over_time(self, now: float) -> str:
        batch = self._batch_time.left(now, by_clock=self._on_gpu)
        # A job that waits for a GPU uses no CPU time, so its limit is wall time.
        job = self._job_time.left(now, by_clock=self._on_gpu and not self._compiling)
        if "stalled" in (batch, job):
            return "stalled"
        if batch == "none":
            return "batch-timeout"
        return "timeout" if job == "none" else ""

    def _follow(self, now: float) -> None:
        """Read the child's headers, to know which job runs and since when.

        A job's time starts when the previous job is done; the first job's starts when it runs.
        It restarts when compiling begins and when compiling ends. A child that writes false
        headers can gain at most the time that the batch has left.
        """
        if self._waking and self._state(0) >= protocol.RUNNING:
            self._waking = False
            self._begin(min(self._job_time.started, now))
        while self._state(self._job) == protocol.DONE and self._job + 1 < len(self._limits.jobs):
            self._job += 1
            self._begin(now)
        compiling = self._on_gpu and self._state(self._job) == protocol.COMPILING
        if compiling != self._compiling:
            self._compiling = compiling
            self._begin(now)

    def _begin(self, started: float) -> None:
        """Start the time of the current job at `started`."""
        self._job_time = self._allowance(self._limits.jobs[self._job].seconds, started)

    def _allowance(self, seconds: float, started: float) -> _Allowance:
        return _Allowance(self._pid, seconds, started, jail.cpu_seconds(self._pid))

    def _state(self, job: int) -> int:
        place = self._limits.jobs[job].header
        return Header.unpack(os.pread(self._memory, protocol.HEADER_BYTES, place)).state

    def _bytes_used(self) -> int:
        """Return the child's memory: what it added to shared memory, and resident memory."""
        shared = (os.fstat(self._memory).st_blocks - self._blocks) * 512
        return shared + max(0, jail.resident_bytes(self._pid) - self._baseline)


def _be_silent() -> None:
    """Discard whatever this process prints."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)


def _warm_up() -> None:
    """Run a kernel once, so that every fork inherits what that imports and caches."""
    name = "<warm-up>"
    x, out = ({"tensor": [n, "float32", [11], [1], 0]} for n in range(2))
    text = steps_to_text([Allocate(1, "float32", 11, 1), Launch(0, [2], (x, out, 11, 8), {}, 1)])
    region = protocol.Region(0, 0, 0)
    job = protocol.JobPlan(
        name, 0, 0, (), (0,), (), out, (), region, (11,), "float32", region, 0, 0, "grid", False,
        1.0, 1 << 30,
    )  # fmt: skip
    kernels = Kernels(warm_kernel.TEXT, name, kernels_from_json([warm_kernel.KERNEL]))
    replay = Replay(kernels, name, "cpu", 1 << 30)
    with engine.running(job, "cpu") as run:
        replay.begin(run, {0: torch.ones(11)}, ())
        replay.steps(steps_from_text(text))
        view = ref_of(out)
        assert view is not None
        replay.never_stored(view)
    del linecache.cache[name]


def _forget_the_judge(root: str) -> None:
    """Make it impossible for a submission to import the judge's own package.

    Landlock denies its files; this is for machines without Landlock. Modules that this process
    still uses stay alive, because they refer to each other.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == "graders"]:
        del sys.modules[name]
    if Path(root).name not in jail.PACKAGE_DIRECTORIES:  # it contains torch and triton, too
        sys.path[:] = [path for path in sys.path if path != root]
        sys.path_importer_cache.pop(root, None)
