"""Every way in which a plan can end is an outcome of its job, and the next job still runs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch

from graders.judge.plan.steps import (
    Allocate,
    Copy,
    Fill,
    Kernel,
    Launch,
    Parameter,
    Step,
    TensorRef,
    Trial,
    Tune,
    steps_to_text,
)
from graders.judge.records import GraderError
from graders.judge.sandbox.deadline import Deadline
from graders.judge.sandbox.pool import Job, Outcome, Workers
from graders.judge.sandbox.protocol import JobLimits, Limits
from graders.judge.sandbox.serve import _BatchLimits
from graders.judge.sandbox.serving import Ending, watch
from tests.support.plans import (
    allocating,
    constant,
    copying,
    endless,
    job,
    making,
    new,
    ref_to,
)

ADD = """
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
"""
NAMES = ("x_ptr", "y_ptr", "out_ptr", "n")
KERNEL = Kernel(
    line=2,
    name="add_kernel",
    names={"tl": {"module": "triton.language"}},
    parameters=(*(Parameter(name) for name in NAMES), Parameter("BLOCK_SIZE", "constexpr")),
)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as running:
        yield running


def launch(n: int, out: TensorRef, size: int = 64, kernel: int = 0, grid: object = None) -> Launch:
    """The kernel on two vectors of `n` elements, on a line of its own."""
    views = (ref_to(torch.empty(n), number).to_json() for number in (0, 1))
    grid = [-(-n // size)] if grid is None else grid
    return Launch(kernel, grid, (*views, out.to_json(), n), {"BLOCK_SIZE": size}, 30)


def add_job(n: int = 100, source: str = ADD, **changes: object) -> Job:
    out, x, y = new(n), torch.randn(n), torch.randn(n)
    steps = [allocating(out), launch(n, out, **changes)]  # type: ignore[arg-type]
    return job(steps, out, x, y, source=source, kernels=[KERNEL])


def with_body(line: str, **changes: object) -> Job:
    """The kernel with one line more, or another one, before its mask."""
    return add_job(source=ADD.replace("    mask =", f"    {line}\n    mask ="), **changes)


def run_then_add(workers: Workers, first: Job) -> Outcome:
    """The outcome of `first`; the honest job behind it must be untouched by it."""
    outcome, honest = workers.run([first, add_job()])
    assert honest.status == "returned"
    return outcome


def test_an_honest_kernel_gives_its_result_and_its_launch(workers: Workers) -> None:
    todo = add_job()
    (outcome,) = workers.run([todo])
    assert outcome.status == "returned", outcome
    assert outcome.output is not None
    torch.testing.assert_close(outcome.output, todo.args[0] + todo.args[1])
    assert outcome.never_stored is not None
    assert outcome.never_stored.shape == (100,)
    assert not outcome.never_stored.any()
    assert outcome.inputs_changed == ()
    assert outcome.faults == ()
    (launched,) = outcome.launches
    assert launched.kernel == "add_kernel"
    assert launched.grid[0] == 2
    assert launched.meta["BLOCK_SIZE"] == 64


def after(*steps: Step) -> Callable[[], Job]:
    """Steps on one argument of four numbers, which is copied then."""
    return lambda: copying(torch.arange(4.0), *steps)


X = TensorRef(0, "float32", (4,), (1,), 0)
BARE = Launch(0, [1], (), {}, 3)
ENDINGS: dict[str, tuple[Callable[[], Job], str, str]] = {
    "huge tensor": (after(Allocate(5, "float32", 1 << 36)), "out-of-memory", "MemoryError"),
    "no such kernel": (after(BARE), "raised", "IndexError"),
    "no such storage": (after(Fill(new(4, storage=7), 1.0)), "raised", "KeyError"),
    "no such dtype": (after(Allocate(5, "nothing", 4)), "raised", "no dtype nothing"),
    "shapes that do not fit": (after(Copy(X, new(3))), "raised", ""),
    "numbers that do not fit": (after(Fill(replace(X, dtype="int32"), 1e300)), "raised", ""),
    "another library": (
        lambda: job_with_name({"module": "os"}),
        "raised",
        "names the module os",
    ),
    "a text for a grid": (lambda: add_job(grid="a Tensor"), "raised", ""),
    "too many axes": (lambda: add_job(grid=[1, 1, 1, 1]), "raised", ""),
    "a block of an odd size": (lambda: add_job(size=100), "raised", ""),
    "an argument too few": (lambda: job_with_launch(positional=()), "raised", ""),
    "a kernel that raises": (lambda: with_body("raise KeyError"), "raised", "KeyError"),
    "a kernel that leaves": (lambda: with_body("raise SystemExit"), "raised", "SystemExit"),
    "deep recursion": (
        lambda: with_body("add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE)"), "raised", "",
    ),
    "a huge block": (lambda: add_job(size=1 << 30), "raised", ""),
}  # fmt: skip


def job_with_name(value: object) -> Job:
    todo = add_job()
    kernels = [{**todo.work.kernels[0], "names": {"tl": value}}]
    return replace(todo, work=replace(todo.work, kernels=kernels))


def job_with_launch(**changes: object) -> Job:
    out = new(100)
    steps = [allocating(out), replace(launch(100, out), **changes)]  # type: ignore[arg-type]
    return job(steps, out, torch.ones(100), torch.ones(100), source=ADD, kernels=[KERNEL])


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_is_an_outcome(workers: Workers, name: str) -> None:
    make, status, words = ENDINGS[name]
    outcome = run_then_add(workers, make())
    assert outcome.status == status, outcome
    assert outcome.output is None
    assert outcome.error is not None
    assert words in outcome.error.message


def test_what_never_ends_is_a_timeout(workers: Workers) -> None:
    outcome = run_then_add(workers, endless(0.3))
    assert outcome.status == "timeout"
    assert outcome.seconds == pytest.approx(0.3)


def test_a_hoarder_is_stopped(workers: Workers) -> None:
    hoard = [step for n in range(200, 264) for step in filled(1 << 20, n)]
    todo = replace(copying(torch.ones(4), *hoard), memory_bytes=64 << 20, seconds=60.0)
    assert run_then_add(workers, todo).status == "out-of-memory"


def filled(count: int, storage: int) -> list[Step]:
    """New memory that is really used."""
    view = new(count, storage=storage)
    return [allocating(view), Fill(view, 1.0)]


def test_the_batch_has_a_limit_of_its_own(workers: Workers) -> None:
    outcomes = workers.run([endless(0.4) for _ in range(4)], seconds=0.6)
    assert [o.status for o in outcomes] == ["timeout"] * 4


def test_a_child_that_gets_no_processor_is_stalled() -> None:
    memory = os.memfd_create("headers")
    os.ftruncate(memory, 4096)
    waits = subprocess.Popen(["sleep", "60"], start_new_session=True)
    judge, ours = socket.socketpair()
    limits = Limits((JobLimits(0, 0.01),), seconds=60.0, memory_bytes=1 << 30)
    with judge, ours:
        ending = watch([waits.pid], ours, _BatchLimits(limits, memory, waits.pid, "cpu").over)
    os.close(memory)
    assert waits.wait() == 0  # it is reaped already
    assert ending.reason == "stalled"
    assert ending.processor_seconds < 0.01


def test_a_child_that_is_stopped_is_not_asleep() -> None:
    """Somebody else has done that: it is no fault of the submission."""
    memory = os.memfd_create("headers")
    os.ftruncate(memory, 4096)
    stopped = subprocess.Popen(["sleep", "60"], start_new_session=True)
    os.kill(stopped.pid, signal.SIGSTOP)
    judge, ours = socket.socketpair()
    limits = Limits((JobLimits(0, 0.3),), seconds=60.0, memory_bytes=1 << 30)
    with judge, ours:
        ending = watch([stopped.pid], ours, _BatchLimits(limits, memory, stopped.pid, "cpu").over)
    os.close(memory)
    stopped.wait()
    assert ending.reason == "stalled"


def test_a_machine_with_too_much_to_do_is_no_mistake(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalled = Ending(9, "stalled", 0.1)
    monkeypatch.setattr(workers, "_exchange", lambda batch: stalled)
    with pytest.raises(GraderError, match="the machine has too much to do"):
        workers.run([add_job()])


def test_runs_of_a_submission_have_one_deadline(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "deadline", Deadline(processor=0.5))
    assert [o.status for o in workers.run([endless(2.0)] * 2)] == ["timeout"] * 2
    assert workers.deadline.processor <= 0
    assert [o.status for o in workers.run([add_job()])] == ["not-run"]


def test_stop_on_leaves_the_rest_alone(workers: Workers) -> None:
    jobs = [add_job(), endless(0.3), add_job(), add_job()]
    outcomes = workers.run(jobs, stop_on={"timeout"})
    assert [o.status for o in outcomes] == ["returned", "timeout", "not-run", "not-run"]


def test_no_jobs_no_outcomes(workers: Workers) -> None:
    assert workers.run([]) == []


@pytest.mark.parametrize(
    "view",
    [
        TensorRef(0, "float32", (2, 2), (1, 2), 0),
        TensorRef(0, "float32", (2, 2), (0, 1), 1),
        TensorRef(0, "float32", (3,), (1,), 1),
        TensorRef(0, "float32", (0, 2), (1, 1), 0),
    ],
)
def test_any_view_can_be_a_result(workers: Workers, view: TensorRef) -> None:
    base = torch.arange(4.0)
    (outcome,) = workers.run([job([], view, base)])
    assert outcome.output is not None
    assert torch.equal(outcome.output, base.as_strided(view.shape, view.strides, view.offset))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_new_memory_is_poison(workers: Workers, dtype: torch.dtype) -> None:
    (outcome,) = workers.run([making(new(4, dtype=dtype))])
    assert outcome.output is not None
    assert bool(outcome.output.isnan().all())


def test_new_integers_are_extreme(workers: Workers) -> None:
    (outcome,) = workers.run([making(new(4, dtype=torch.int32))])
    assert outcome.output is not None
    assert outcome.output.tolist() == [torch.iinfo(torch.int32).max] * 4


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_any_integer_keeps_its_dtype(workers: Workers, dtype: str) -> None:
    out = new(5, dtype=getattr(torch, dtype))
    (outcome,) = workers.run([making(out, Fill(out, 3), dtype="any-integer")])
    assert outcome.output is not None
    assert outcome.output.dtype == getattr(torch, dtype)
    assert outcome.output.tolist() == [3] * 5


def test_printing_harms_nobody(workers: Workers) -> None:
    outcome = run_then_add(workers, with_body("print('y' * 1_000_000)", grid=[2]))
    assert outcome.status == "returned"


def test_a_fault_of_the_kernel_is_reported_by_code_and_argument(workers: Workers) -> None:
    (outcome,) = workers.run([add_job(source=ADD.replace(", mask=mask)", ")"))])
    assert outcome.status == "raised"
    assert outcome.error is not None
    assert outcome.error.code == "out-of-bounds-load"
    assert outcome.error.argument == "x_ptr"
    assert outcome.error.line == 5
    assert outcome.error.source == "x = tl.load(x_ptr + offsets)"


def test_a_step_that_fails_has_the_line_of_the_launcher(workers: Workers) -> None:
    (outcome,) = workers.run([add_job(size=100)])
    assert outcome.error is not None
    assert outcome.error.line in (3, 30)


# ------------------------------------------------------------------ what no kernel has stored


def unstored(workers: Workers, todo: Job) -> list[int]:
    """Places of the result that no kernel stored."""
    (outcome,) = workers.run([todo])
    assert outcome.status == "returned", outcome
    assert outcome.output is not None
    if not outcome.given:  # no launch and no copy ever had its memory
        return list(range(outcome.output.numel()))
    assert outcome.never_stored is not None
    places: list[int] = outcome.never_stored.flatten().nonzero().flatten().tolist()
    return places


def test_filling_and_copying_inputs_is_no_kernels_store(workers: Workers) -> None:
    out = new(4)
    assert unstored(workers, making(out, Fill(out, 1.0))) == [0, 1, 2, 3]
    assert unstored(workers, copying(torch.arange(4.0))) == [0, 1, 2, 3]


def test_a_copy_carries_what_a_kernel_stored(workers: Workers) -> None:
    """Half of the memory is a kernel's, then it is turned, converted and copied."""
    scratch, out = new(8, storage=50), new(4, 2, dtype=torch.float16)
    turned = TensorRef(50, "float32", (4, 2), (1, 4), 0)
    steps = [
        *filled(8, 50),
        replace(launch(4, scratch), positional=(*launch(4, scratch).positional[:3], 4)),
        allocating(out),
        Copy(out, turned),
    ]
    todo = job(steps, out, torch.ones(4), torch.ones(4), source=ADD, kernels=[KERNEL])
    assert unstored(workers, todo) == [1, 3, 5, 7]
    again = Copy(
        TensorRef(out.storage, "float16", (4,), (2,), 1), TensorRef(50, "float32", (4,), (1,), 0)
    )
    todo = job([*steps, again], out, torch.ones(4), torch.ones(4), source=ADD, kernels=[KERNEL])
    assert unstored(workers, todo) == []


# ------------------------------------------------------------------------------- across cases


def test_memory_of_an_earlier_case_is_kept_and_made_anew_in_another_process(
    workers: Workers,
) -> None:
    scratch, out = new(4, storage=70), new(4)
    first = making(out, allocating(scratch), Fill(scratch, 5.0), Copy(out, scratch))
    second = making(out, Copy(out, scratch), Fill(scratch, 6.0))
    third = making(out, Copy(out, scratch))
    earlier = steps_to_text([allocating(scratch), Fill(scratch, 2.0)])
    works = [
        replace(
            todo.work,
            keep=(70,),
            earlier=earlier,
            needs=(70,) if todo is not first else (),
            kernels=(),
        )
        for todo in (first, second, third)
    ]
    shared = works[0].kernels
    jobs = [
        replace(todo, work=replace(work, kernels=shared))
        for todo, work in zip((first, second, third), works, strict=True)
    ]

    def values(outcomes: list[Outcome]) -> list[float]:
        return [o.output[0].item() for o in outcomes if o.output is not None]

    assert values(workers.run(jobs)) == [5.0, 5.0, 6.0]
    assert values(workers.run(jobs[1:])) == [2.0, 6.0]


def test_tuning_takes_the_configuration_of_the_least_cost(workers: Workers) -> None:
    out, x = new(4096), torch.ones(4096)
    wide, narrow = (launch(4096, out, size=size) for size in (256, 128))
    trials = (  # the first one does everything twice
        Trial({"BLOCK_SIZE": 256}, (), (wide, wide), (), (wide,)),
        Trial({"BLOCK_SIZE": 128}, (), (narrow,), (), (narrow,)),
    )
    tune = Tune(0, "key", 3, False, "add_kernel", {"out_ptr": out.to_json()}, trials, (), 30)
    steps = [allocating(out), tune, replace(tune, known=True)]
    (outcome,) = workers.run([job(steps, out, x, x, source=ADD, kernels=[KERNEL])])
    assert outcome.status == "returned", outcome
    sizes = [launched.meta["BLOCK_SIZE"] for launched in outcome.launches]
    assert sizes == [256, 256, 128, 128, 128]
    assert {launched.configs for launched in outcome.launches} == {3}


def test_a_job_of_ours_is_done_at_once(workers: Workers) -> None:
    assert run_then_add(workers, constant()).status == "returned"
