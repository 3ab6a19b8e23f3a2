"""Workers for a GPU. Their jail and their transport are tried without one; the rest with one."""

from __future__ import annotations

import contextlib
import inspect
import mmap
import os
import shutil
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import triton.language as tl
from triton.runtime.jit import JITFunction

from graders.judge.compiling.process import CompileWorker
from graders.judge.plan.gpu_compiling import announce_compiling
from graders.judge.plan.replay import Replay
from graders.judge.records import Case, TensorSpec
from graders.judge.sandbox import engine, job_report, run_task, starting
from graders.judge.sandbox.batch import Batch
from graders.judge.sandbox.gpu_lock import hold_gpu
from graders.judge.sandbox.job_tensors_gpu import DeviceMemory
from graders.judge.sandbox.pool import Job, Outcome, Workers
from graders.judge.sandbox.protocol import COMPILING, RUNNING, Device, Header, JobPlan
from graders.judge.sandbox.serve import _BatchLimits
from tests.support.capturing import planned
from tests.support.exercise_records import an_exercise
from tests.support.plans import constant, job, new, ref_to

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


@pytest.fixture(autouse=True)
def a_turn_on_the_gpu() -> Iterator[None]:
    """Tests of other files may be timing on it."""
    with hold_gpu(exclusive=False):
        yield


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(device="cuda") as running:
        yield running


@pytest.fixture(scope="module")
def anything() -> Iterator[Workers]:
    """Workers for a GPU whose children run any Python, which may touch no GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting, "_ZYGOTE", "tests/support/any_python.py")
        with Workers(device="cuda") as running:
            yield running


def ask(anything: Workers, body: str) -> Outcome:
    """Run `body` in the jail; what it prints or raises comes back."""
    (outcome,) = anything.run([job([], new(1), source=f"import os, sys\n{body}\n")])
    return outcome


def test_the_gpus_jail_stops_what_is_tried(workers: Workers) -> None:
    assert workers.tier == "A", (workers.layers, workers.open_to)


def test_triton_is_not_interpreted(anything: Workers) -> None:
    outcome = ask(anything, "print('TRITON_INTERPRET' in os.environ, 'triton' in sys.modules)")
    assert outcome.returned == "False True\n", outcome


def test_the_courses_helpers_are_at_hand(anything: Workers) -> None:
    """The jail closes the folder that a clone runs from; what is imported before stays."""
    outcome = ask(anything, "from triton_util import cdiv, get_1d_offset\nprint(cdiv(7, 2))")
    assert outcome.returned == "4\n", outcome


@pytest.mark.parametrize(
    "body",
    [
        "import socket\nsocket.socket()",
        "os.setsid()",
        "os.kill(os.getppid(), 0)",
        "open('/etc/shadow')",
        "open('/tmp/here', 'w')",
        "open(f'/proc/{os.getppid()}/mem', 'rb')",
    ],
)
def test_what_no_compiler_needs_is_denied(anything: Workers, body: str) -> None:
    outcome = ask(anything, body)
    assert outcome.error is not None
    assert outcome.error.message.startswith("PermissionError"), outcome.error


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")
def test_a_compiler_can_work(anything: Workers) -> None:
    compile_it = (
        "import subprocess, ctypes\n"
        "place = os.environ['TRITON_CACHE_DIR']\n"
        "text = '#include <stdio.h>\\nint answer(void) { return 42; }'\n"
        "open(place + '/a.c', 'w').write(text)\n"
        "subprocess.run(['cc', '-shared', '-fPIC', place + '/a.c', '-o', place + '/a.so'],"
        " check=True)\n"
        "print(ctypes.CDLL(place + '/a.so').answer())"
    )
    outcome = ask(anything, compile_it)
    assert outcome.returned == "42\n", outcome


def test_the_scratch_directory_is_empty_for_every_batch(anything: Workers) -> None:
    left = "os.makedirs(os.environ['TMPDIR'] + '/a/b')\nopen(os.environ['TMPDIR'] + '/c', 'w')"
    assert ask(anything, left).status == "returned"
    outcome = ask(anything, "print(os.listdir(os.environ['TMPDIR']))")
    assert outcome.returned == "[]\n", outcome


def test_a_process_that_stays_is_killed(anything: Workers) -> None:
    lingering = "import subprocess\nprint(subprocess.Popen(['/bin/sleep', '60']).pid)"
    outcome = ask(anything, lingering)
    assert outcome.status == "returned", outcome
    until_gone(int(outcome.returned))


def until_gone(pid: int) -> None:
    """Wait until the process is no more, or only waits for somebody to take note of its end."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.02)
    pytest.fail(f"process {pid} is still there")


class OnHost(DeviceMemory):
    """The transport to a device, with the host in its place."""

    device = "cpu"

    def synchronize(self) -> None:
        pass

    def limit(self, needed: int) -> None:
        pass


def as_in(storage: torch.Tensor, view: torch.Tensor) -> torch.Tensor:
    """The same view of another storage."""
    return storage.as_strided(view.shape, view.stride(), int(view.storage_offset()))


def test_views_keep_their_layout_on_the_device() -> None:
    base = torch.arange(60.0)
    view = base.as_strided((4, 5), (12, 2), 3)
    other = base.as_strided((7,), (1,), 20)
    far = torch.empty(2**31 + 300).as_strided((2, 10), (2**31 + 100, 1), 5)
    far.copy_(torch.arange(20.0).view(2, 10))
    out = new(4, 5)
    todo = job([], out, view, 3, other, far)
    batch = Batch([todo], 1.0)
    try:
        with mmap.mmap(batch.memory, batch.plan.total) as shared:
            memory = OnHost(shared, batch.plan.memory_bytes)
            plan = batch.plan.jobs[0]
            storages = memory.storages(plan)
            assert set(storages) == {0, 2, 3}
            for number, want in ((0, view), (2, other), (3, far)):
                assert torch.equal(as_in(storages[number], want), want)
            assert storages[0].untyped_storage().data_ptr() == (
                storages[2].untyped_storage().data_ptr()
            )
            memory.store(plan, view * 2)
            assert batch.inputs_changed(0) == ()
            storages = memory.storages(plan)
            storages[0][0] = -1  # a gap, before the view
            as_in(storages[3], far)[1, 3] = -1
            memory.store(plan, view * 2)
            assert batch.inputs_changed(0) == (0, 2, 3)
            del storages, memory
    except BufferError:  # tensors may still hold the map: nothing that matters here
        pass
    finally:
        batch.close()


class OneCaseFits(OnHost):
    """A device with room for the arguments of one case."""

    def __init__(self, shared: mmap.mmap) -> None:
        super().__init__(shared, 0)
        self.placed: list[weakref.ref[torch.Tensor]] = []

    def storages(self, job: JobPlan) -> dict[int, torch.Tensor]:
        assert not any(storage() is not None for storage in self.placed), "the last case's stay"
        found = super().storages(job)
        self.placed = [weakref.ref(storage) for storage in found.values()]
        return found


def test_the_arguments_of_a_case_are_gone_before_the_next_ones_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "running", lambda *_: contextlib.nullcontext(engine._Unchecked()))
    argument = torch.arange(6.0)
    batch = Batch([job([], ref_to(argument), argument)] * 3, 1.0)
    # Tensors may still hold the map when it is closed: that does not matter here.
    with contextlib.suppress(BufferError), mmap.mmap(batch.memory, batch.plan.total) as shared:
        memory, reporter = OneCaseFits(shared), run_task.Reporter(shared)
        replay = Replay(run_task.Kernels("", "s.py", []), "s.py", "cpu", batch.plan.memory_bytes)
        for todo in batch.plan.jobs:
            reporter.begin(todo)
            assert run_task._run_job(todo, batch.plan.texts, replay, memory, reporter)
    assert [batch.outcome(index).status for index in range(3)] == ["returned"] * 3
    batch.close()


ADD = """
import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)

def solve(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK_SIZE=64)
    return out
"""


def gpu_jobs(source: str, count: int = 2) -> list[Job]:
    """The same job several times, captured as the judge does."""
    vectors = (TensorSpec((1000,)),) * 2
    exercise = an_exercise("solve", cases=(Case("vectors", vectors),))
    with CompileWorker() as worker:
        jobs, cases = planned(source, worker, exercise)
    todo = jobs.job(cases[0], "grid")
    assert isinstance(todo, Job), todo
    return [todo] * count


@needs_gpu
def test_a_kernel_runs_on_the_gpu(workers: Workers) -> None:
    todo = gpu_jobs(ADD)
    for item, outcome in zip(todo, workers.run(todo), strict=True):
        assert outcome.status == "returned", outcome
        assert outcome.output is not None
        torch.testing.assert_close(outcome.output, item.args[0] + item.args[1])
        assert outcome.inputs_changed == ()


@needs_gpu
@pytest.mark.parametrize(
    ("change", "status"),
    [
        (("(out_ptr + offsets", "(out_ptr + (1 << 40) + offsets"), "crashed"),
        (
            ("    mask =", "    while n > 0:\n        tl.atomic_add(out_ptr, 0.0)\n    mask ="),
            "timeout",
        ),
        (
            ("out = torch", "keep = torch.empty(1 << 42, device='cuda')\n    out = torch"),
            "out-of-memory",
        ),
        (("    return out", "    x.zero_()\n    return out"), "returned"),
    ],
    ids=["illegal access", "endless", "out of memory", "changed input"],
)
def test_misbehaviour_on_the_gpu_is_an_outcome(
    workers: Workers, change: tuple[str, str], status: str
) -> None:
    outcomes = workers.run([*gpu_jobs(ADD.replace(*change)), *gpu_jobs(ADD, 1)])
    assert [o.status for o in outcomes] == [status, status, "returned"], outcomes
    if status == "returned":
        assert outcomes[0].inputs_changed == (0,)


TOO_MUCH_SHARED = """
import torch
import triton
import triton.language as tl

@triton.jit
def product_kernel(x_ptr, out_ptr, K, BM: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, BM)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BM), dtype=tl.float32)
    for start in range(0, K, BK):
        a = tl.load(x_ptr + m[:, None] * K + k[None, :] + start)
        b = tl.load(x_ptr + (k[:, None] + start) * BM + m)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + m[:, None] * BM + m, total)

def solve(x, y):
    big = torch.zeros((128, 1024), dtype=torch.float16, device=x.device)
    out = torch.empty((128, 128), device=x.device)
    product_kernel[(1,)](big, out, 1024, BM=128, BK=128, num_stages=6)
    return out.view(-1)[:1000]
"""


@pytest.mark.parametrize("source", [ADD, TOO_MUCH_SHARED], ids=["sum", "shared memory"])
def test_what_needs_a_gpu_below_can_be_captured_without_one(source: str) -> None:
    assert len(gpu_jobs(source, 1)) == 1


@needs_gpu
@pytest.mark.parametrize(
    ("source", "message", "advice"),
    [
        (
            ADD.replace("(triton.cdiv(x.numel(), 64),)", "(1, 70_000)"),
            "too many programs along one axis",
            "put the long axis first",
        ),
        (TOO_MUCH_SHARED, "bytes of shared memory, and this GPU has", "smaller blocks"),
    ],
    ids=["grid", "shared memory"],
)
def test_what_the_gpu_cannot_start_is_explained(
    workers: Workers, source: str, message: str, advice: str
) -> None:
    (outcome,) = workers.run(gpu_jobs(source, 1))
    assert outcome.error is not None, outcome
    assert outcome.error.code == "kernel-error"
    assert message in outcome.error.message
    assert advice in outcome.error.cause
    assert "_kernel[" in outcome.error.source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Triton Error [CUDA]: invalid argument", "too many programs along one axis"),
        (
            "out of resource: shared memory, Required: 327680, Hardware limit: 232448. Reducing",
            "needs 327680 bytes of shared memory, and this GPU has 232448",
        ),
        (
            "out of resource: threads, Required: 4096, Hardware limit: 1024. Reducing",
            "needs 4096 of threads",
        ),
        ("Triton Error [CUDA]: something else", "RuntimeError: Triton Error [CUDA]: something"),
    ],
)
def test_words_of_a_gpus_driver_are_translated(text: str, message: str) -> None:
    launch = compile(f"def launch(): raise RuntimeError({text!r})", "/x/triton/driver.py", "exec")
    driver: dict[str, Any] = {}
    exec(launch, driver)
    with pytest.raises(RuntimeError) as caught:
        driver["launch"]()
    placed = Batch([constant()], 1.0)
    try:
        told = job_report.error(caught.value, placed.plan.jobs[0])
    finally:
        placed.close()
    assert told["code"] == "kernel-error"
    assert message in told["message"]


@needs_gpu
def test_a_kernel_that_takes_too_long_to_compile_is_named(workers: Workers) -> None:
    slow = "    for i in tl.static_range(100_000):\n        mask = mask & (offsets + i > 0)\n"
    source = ADD.replace("    total =", f"{slow}    total =")
    jobs = [replace(item, seconds=4.0) for item in gpu_jobs(source)]
    outcome = workers.run(jobs, stop_on={"timeout"})[0]
    assert outcome.status == "timeout"
    assert outcome.error is not None
    assert outcome.error.code == "compile-timeout"
    assert outcome.error.message == "It was at add_kernel with BLOCK_SIZE=64."


def test_compiling_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    kernel = JITFunction(solve_kernel)
    monkeypatch.setattr(JITFunction, "_do_compile", lambda *args, **kw: seen.append("compiles"))
    announce_compiling(lambda *what: seen.append(what), lambda: seen.append("done"))
    kernel._do_compile(
        "key", {}, "device", {(0,): 1, (1,): 64, (2,): tl.float32}, None, None, warmup=False
    )
    line = inspect.getsourcelines(solve_kernel)[1]
    assert seen == [("solve_kernel with BLOCK_SIZE=64", line), "compiles", "done"]


def solve_kernel(x_ptr, BLOCK_SIZE: tl.constexpr, dtype: tl.constexpr):  # type: ignore[no-untyped-def]
    tl.store(x_ptr + tl.arange(0, BLOCK_SIZE), tl.zeros((BLOCK_SIZE,), dtype))


@contextlib.contextmanager
def watched_batch(
    device: Device = "cuda", seconds: float = 5.0
) -> Iterator[tuple[_BatchLimits, Callable[[int], None]]]:
    """A watch over two jobs of so many seconds, and how to say what state the first is in."""
    batch = Batch([replace(constant(), seconds=seconds)] * 2, 60.0)

    def be(state: int) -> None:
        os.pwrite(batch.memory, Header(state=state).pack(), batch.plan.jobs[0].header)

    try:
        yield _BatchLimits(batch.plan.limits, batch.memory, os.getpid(), device), be
    finally:
        batch.close()


def test_the_time_to_wake_a_gpu_ends_when_the_first_job_runs() -> None:
    with watched_batch() as (watch, be):
        now = time.monotonic()
        watch._follow(now)
        assert watch._over_time(now + 20) == ""
        be(RUNNING)
        for tick in (2, 4):  # what counts is the first look that finds it running
            watch._follow(now + tick)
            assert watch._over_time(now + 6.9) == ""
            assert watch._over_time(now + 7.1) == "timeout"


def test_compiling_has_a_time_of_its_own_and_of_the_processor() -> None:
    with watched_batch() as (watch, be):
        now = time.monotonic()
        be(RUNNING)
        watch._follow(now)
        be(COMPILING)
        watch._follow(now + 4)
        assert watch._over_time(now + 80) == ""  # this process computes next to nothing
        be(RUNNING)
        watch._follow(now + 18)
        assert watch._over_time(now + 22.9) == ""
        assert watch._over_time(now + 23.1) == "timeout"


def test_a_compiler_that_gets_no_processor_is_stalled() -> None:
    with watched_batch(seconds=1.0) as (watch, be):
        now = time.monotonic()
        be(RUNNING)
        watch._follow(now)
        be(COMPILING)
        watch._follow(now)
        assert watch._over_time(now + 19.9) == ""
        assert watch._over_time(now + 20.1) == "stalled"


def test_nobody_compiles_on_the_cpu_to_gain_time() -> None:
    with watched_batch("cpu") as (watch, be):
        now = time.monotonic()
        be(RUNNING)
        watch._follow(now)
        be(COMPILING)
        watch._follow(now + 50)
        assert watch._over_time(now + 100.1) == "stalled"
