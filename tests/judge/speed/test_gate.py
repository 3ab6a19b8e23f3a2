"""The speed that counts: what is believed of a sandboxed run, and what it is worth."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from graders.judge import discovery
from graders.judge.launch_trace.gate import Captured
from graders.judge.plan import timing
from graders.judge.plan.kernels import Kernels
from graders.judge.plan.replay import Replay
from graders.judge.plan.steps import (
    Allocate,
    CasePlan,
    Copy,
    Fill,
    LaunchPlan,
    TensorRef,
    steps_to_text,
)
from graders.judge.records import TensorSpec, Workload
from graders.judge.running.jobs import PlannedJobs
from graders.judge.running.traffic import Moved
from graders.judge.sandbox import gpu_lock, run_task
from graders.judge.sandbox.pool import Job, Outcome, Work
from graders.judge.speed import gate, model_times
from graders.judge.speed.gate import Stopwatch, jobs_of, prepare
from graders.judge.speed.watched import WatchedWorkers
from graders.judge.submission.loading import Submission
from triton_util.report import KernelResources, Speed

RELU = discovery.exercise("relu2d")
WORK = Workload("64×64, fp32", (TensorSpec((64, 64)),), 64.0**2, torch.relu)
BARS = ((0.5, 1), (0.8, 2))
MINE = Submission("mine.py", "# mine", "relu2d")


@dataclass
class FakeRun:
    """How the fake worker behaves with one source; milliseconds."""

    ms: float
    outside_ms: float | None = None
    yard_ms: float = 0.06
    compute: Callable[[torch.Tensor], torch.Tensor] = torch.relu
    status: Any = "returned"
    stopped: int = 3  # the burst that takes too long, 1 or 2


@dataclass
class FakeWorkers:
    """Answers timing jobs by the word in the source, as a GPU's worker would."""

    runs: dict[str, FakeRun]
    asked: list[str] = field(default_factory=list)
    gpu_seconds: float = 0.0
    next_at_once: bool = False

    def clocked(
        self, jobs: Sequence[Job], **options: Any
    ) -> tuple[list[Outcome], dict[int, float]]:
        label = "mine" if "# mine" in jobs[0].work.source else "model"
        self.asked.append(label)
        run = self.runs[label]
        if run.status != "returned":
            return [Outcome(run.status)] * len(jobs), {}
        first, second = jobs[0].args
        timing = jobs[0].work.timing
        assert timing is not None
        rounds = timing["rounds"]
        pairs = torch.tensor([[run.ms, run.yard_ms]] * rounds, dtype=torch.float64)
        outputs = [run.compute(x).view(-1).view(torch.uint8) for x in (first, second)]
        report = torch.cat([pairs.view(-1).view(torch.uint8), *outputs])
        assert report.shape == jobs[0].out_shape
        bursts = [Outcome("returned", run.compute(job.args[0])) for job in jobs[1:]]
        per_call = (run.ms if run.outside_ms is None else run.outside_ms) / 1e3
        calls = [(job.work.timing or {}).get("calls", 0) for job in jobs]
        windows = {n: 0.05 + per_call * calls[n] for n in range(1, len(jobs))}
        ran = [Outcome("returned", report), *bursts][: run.stopped]
        late = [Outcome("timeout"), Outcome("not-run")]
        return [*ran, *late][:3], windows


@pytest.fixture(autouse=True)
def small_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(discovery, "workload", lambda name: WORK if name == "relu2d" else None)
    monkeypatch.setattr(gpu_lock, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(model_times, "FOLDER", tmp_path / "times")
    monkeypatch.setattr(gate, "_gpu_name", lambda: "A GPU of tests")


REF = TensorRef(0, "float32", (64, 64), (64, 1), 0).to_json()
CAPTURED = Captured(LaunchPlan(cases=(CasePlan(result=REF, inputs=(0,)),)))


def captured(*_: object) -> Captured:
    """A plan whose steps do not matter here."""
    return CAPTURED


def measured(mine: FakeRun, model: FakeRun | None = None, **more: Any) -> Speed:
    workers = FakeWorkers({"mine": mine, "model": model or FakeRun(0.1)})
    found = Stopwatch(workers, captured).speed(MINE, RELU, BARS, **more)  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("ms", "fraction", "bonus"),
    [(0.1, 1.0, 3), (0.12, 0.833, 3), (0.15, 0.667, 1), (0.2, 0.5, 1), (0.4, 0.25, 0)],
)
def test_bars_are_shares_of_the_model_solutions_speed(
    ms: float, fraction: float, bonus: int
) -> None:
    found = measured(FakeRun(ms))
    assert (found.fraction, found.bonus, found.max_bonus, found.problem) == (fraction, bonus, 3, "")
    assert f"{bonus} of 3 bonus points" in found.told


@pytest.mark.parametrize(
    ("mine", "word"),
    [
        (FakeRun(0.1, compute=torch.zeros_like), "the output of a timed call is wrong"),
        (FakeRun(0.02, outside_ms=0.5), "by the judge's own clock"),
        (FakeRun(0.02, outside_ms=0.04), "by the judge's own clock"),
        (FakeRun(0.1, yard_ms=0.09), "something else used the GPU"),
        (FakeRun(float("nan")), "the times that came back are none"),
        (FakeRun(-1.0), "the times that came back are none"),
        (FakeRun(0.1, status="timeout"), "had not come to an end after 15 s"),
        (FakeRun(0.1, status="crashed"), "did not return a result (crashed)"),
        (FakeRun(0.1, stopped=1), "by the judge's own clock a call takes 200"),
        (FakeRun(0.1, stopped=2), "by the judge's own clock a call takes 33"),
    ],
)
def test_what_is_not_believed_gives_no_bonus(mine: FakeRun, word: str) -> None:
    found = measured(mine)
    assert word in found.problem
    assert found.bonus == 0
    assert "does not count" in found.told


@pytest.mark.parametrize("stopped", [1, 2])
def test_a_slow_kernel_is_stopped_and_its_time_told(stopped: int) -> None:
    found = measured(FakeRun(400.0, stopped=stopped))
    assert (found.problem, found.bonus, found.ms) == ("", 0, 400.0)
    assert "It takes 4000 times as long as the model solution." in found.told


def test_faster_than_the_hardware_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_gpu_name", lambda: "Tesla T4")
    huge = Workload("8192², fp32", (TensorSpec((8192, 8192)),), 1.0, torch.relu)
    mine, model = gate.TimedRun(0.1, 0.1, 0.06, 0.1), gate.TimedRun(2.0, 2.0, 0.06, 2.0)
    inputs = replace(prepare(RELU, WORK), least_bytes=(8192.0**2 * 4, 8192.0**2 * 4))
    assert "less than" in gate._contradiction(mine, model, huge, inputs)
    slower = gate.TimedRun(1.8, 1.75, 0.06, 1.8)
    assert gate._contradiction(slower, model, huge, inputs) == ""


def test_the_model_solutions_fault_is_not_the_learners() -> None:
    found = measured(FakeRun(0.1), FakeRun(0.1, status="out-of-memory"))
    assert found.problem.startswith("the model solution: ")


def test_a_fault_of_ours_costs_nothing_but_the_bonus(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(exercise: object, work: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(gate, "prepare", no_room)
    found = measured(FakeRun(0.1))
    assert found.problem == "it could not be measured (CUDA out of memory)"
    assert found.bonus == 0


def test_the_model_solution_is_timed_once_for_many_and_again_in_other_conditions() -> None:
    workers = FakeWorkers({"mine": FakeRun(0.1), "model": FakeRun(0.1)})
    stopwatch = Stopwatch(workers, captured)  # type: ignore[arg-type]
    for _ in range(3):
        stopwatch.speed(MINE, RELU, BARS)
    assert workers.asked == ["model", "mine", "mine", "mine"]
    workers.runs = {"mine": FakeRun(0.15, yard_ms=0.09), "model": FakeRun(0.15, yard_ms=0.09)}
    found = stopwatch.speed(MINE, RELU, BARS)
    assert found is not None
    assert workers.asked[4:] == ["mine", "model"]
    assert found.fraction == 1.0


def test_reasons_are_named_where_they_are_known() -> None:
    def resources(**figures: int) -> tuple[KernelResources, ...]:
        return (KernelResources("relu_kernel", 90, 32, 0, **figures),)

    narrow = measured(FakeRun(0.2), resources=resources(spill_bytes=0, load_bits=32))
    assert "loads are 4 bytes wide" in narrow.words
    spilling = measured(FakeRun(0.2), resources=resources(spill_bytes=96, load_bits=128))
    assert "spills 96 bytes" in spilling.words
    moved = Moved(3000, {"x_ptr": 3.0})
    wasteful = measured(FakeRun(0.2), moved=lambda: (moved, 1000))
    assert "On a smaller case, in the interpreter, it moves 3.0 times the bytes" in wasteful.words
    assert "`x_ptr` is read 3 times over" in wasteful.words
    fast = measured(FakeRun(0.1), resources=resources(spill_bytes=0, load_bits=32))
    assert "bytes wide" not in fast.words


def test_nothing_is_measured_without_a_bar_or_a_model_solution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopwatch = Stopwatch(FakeWorkers({}), captured)  # type: ignore[arg-type]
    assert stopwatch.speed(MINE, RELU, ()) is None
    assert stopwatch.speed(MINE, discovery.exercise("copy"), BARS) is None
    monkeypatch.setattr(discovery, "model_path", lambda exercise: None)
    assert stopwatch.speed(MINE, RELU, BARS) is None


def test_inputs_are_new_each_time_and_of_two_kinds() -> None:
    first, second = prepare(RELU, WORK), prepare(RELU, WORK)
    tensors = [args[0] for inputs in (first, second) for args in inputs.sets]
    assert len({float(x.double().sum()) for x in tensors}) == 4


class FakeEvent:
    """Time in this test passes only where `spend` says so."""

    now = 0.0

    def __init__(self, enable_timing: bool) -> None:
        self.at = 0.0

    def record(self) -> None:
        self.at = FakeEvent.now

    def elapsed_time(self, other: FakeEvent) -> float:
        return other.at - self.at


@pytest.fixture
def fake_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_event", FakeEvent)
    monkeypatch.setattr(timing, "_sleep", lambda cycles: None)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(timing, "DEVICE", "cpu")
    monkeypatch.setattr(timing, "FLUSH_BYTES", 64)
    monkeypatch.setattr(timing, "YARD_BYTES", 64)


class FakePlan:
    """A plan whose calls take 2.5 ms. It keeps a memory that `forget` overwrites."""

    def __init__(self) -> None:
        self.inputs: dict[int, torch.Tensor] = {}
        self.seen: list[torch.Tensor] = []
        self.memory: list[torch.Tensor] = []

    def ready(self, inputs: dict[int, torch.Tensor]) -> None:
        self.inputs = inputs

    def perform(self, tables: bool = True) -> torch.Tensor:
        FakeEvent.now += 2.5
        self.seen.append(self.inputs[0].clone())
        return torch.relu(self.inputs[0]).view(64, 64)

    def forget(self) -> None:
        self.memory.clear()


class Remembering(FakePlan):
    """A plan that computes only where it remembers nothing."""

    def perform(self, tables: bool = True) -> torch.Tensor:
        if not self.memory:
            self.memory.append(super().perform())
        return self.memory[0]


class Stale(Remembering):
    """The same in memory that nothing overwrites."""

    def forget(self) -> None:
        pass


def draw(storages: dict[int, torch.Tensor], seed: int) -> None:
    storages[0].normal_(generator=torch.Generator().manual_seed(seed))


def timed_by(call: timing.TimedPlan) -> tuple[gate.Inputs, list[Outcome]]:
    """What a worker gives for a plan that `call` performs."""
    inputs = prepare(RELU, WORK)
    plan = PlannedJobs("", CAPTURED).work(CAPTURED.plan.cases[0], CAPTURED.plan.cases[0].result)
    rounds, short, _long = jobs_of(plan, inputs, WORK)
    assert rounds.work.timing is not None
    assert short.work.timing is not None
    storages = dict(zip((0, -1), (arg.view(-1) for arg in rounds.args), strict=True))
    report = timing.timed(call, storages, rounds.work.timing, draw)
    assert tuple(report.shape) == rounds.out_shape
    burst = timing.timed(call, {0: storages[0]}, short.work.timing, draw)
    return inputs, [Outcome("returned", report), *[Outcome("returned", burst)] * 2]


@pytest.mark.usefixtures("fake_gpu")
def test_the_worker_times_each_round_and_gives_the_outputs_of_timed_calls() -> None:
    inputs, outcomes = timed_by(FakePlan())
    assert outcomes[0].output is not None
    # the fake yardstick takes no time at all, which is none: give it some
    figures = outcomes[0].output[: 16 * gate.ROUNDS].view(torch.float64).reshape(-1, 2)
    assert figures[:, 0].tolist() == pytest.approx([2.5] * gate.ROUNDS)
    figures[:, 1] = 1.0
    run = gate.read(outcomes, inputs, {1: 0.1, 2: 0.4}, (20, 120))
    assert run.problem == ""
    assert run.ms == pytest.approx(2.5)
    assert run.outside_ms == pytest.approx(3.0)


@pytest.mark.usefixtures("fake_gpu")
def test_a_slow_kernel_has_fewer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing.time, "perf_counter", lambda: FakeEvent.now / 10)  # 0.25 s a call
    inputs, outcomes = timed_by(FakePlan())
    assert outcomes[0].output is not None
    figures = outcomes[0].output[: 16 * gate.ROUNDS].view(torch.float64).reshape(-1, 2)
    done = int(figures[:, 0].isfinite().sum())
    assert 2 <= done < gate.ROUNDS / 2
    figures[:done, 1] = 1.0
    run = gate.read(outcomes, inputs, {1: 0.1, 2: 0.4}, (20, 120))
    assert (run.ms, run.problem) == (pytest.approx(2.5), "")


@pytest.mark.usefixtures("fake_gpu")
def test_no_two_rounds_have_the_same_inputs() -> None:
    call = FakePlan()
    timed_by(call)
    in_rounds = call.seen[: timing.WARM_UP + gate.ROUNDS]
    assert len({tuple(x.flatten().tolist()) for x in in_rounds}) == len(in_rounds)


@pytest.mark.usefixtures("fake_gpu")
def test_what_a_round_remembers_is_forgotten_before_the_next() -> None:
    call = Remembering()
    timed_by(call)
    assert len(call.seen) > gate.ROUNDS


def test_memory_of_a_timed_call_is_overwritten_and_that_of_the_module_made_anew() -> None:
    ref = TensorRef(7, "float32", (4,), (1,), 0)
    module = [Allocate(7, "float32", 4), Fill(ref, 1.5)]
    steps = [Allocate(8, "float32", 4), Copy(replace(ref, storage=8), ref)]
    plan = SimpleNamespace(
        earlier=0,
        steps=1,
        needs=(7,),
        result=replace(ref, storage=8).to_json(),
    )
    replay = Replay(Kernels("", "<test>", ()), "<test>", "cpu", 1 << 20, timed=True)
    call = run_task._Timed(plan, [steps_to_text(module), steps_to_text(steps)], replay)  # type: ignore[arg-type]
    given = {0: torch.ones(4)}
    for _ in range(2):
        call.ready(given)
        out = call.perform()
        assert out.tolist() == [1.5] * 4
        kept = replay.storages[7]
        call.forget()
        assert out.isnan().all()
        assert kept.isnan().all()
        assert given[0].tolist() == [1.0] * 4


@pytest.mark.usefixtures("fake_gpu")
def test_a_result_that_is_not_computed_anew_is_caught() -> None:
    inputs, outcomes = timed_by(Stale())
    assert outcomes[0].output is not None
    outcomes[0].output[: 16 * gate.ROUNDS].view(torch.float64).fill_(1.0)
    run = gate.read(outcomes, inputs, {1: 0.1, 2: 0.4}, (20, 120))
    assert run.problem == "the output of a timed call is wrong"


def test_the_judge_clocks_a_job_from_outside() -> None:
    view = TensorRef(0, "float32", (3,), (1,), 0)
    steps = steps_to_text([Allocate(0, "float32", 3), Fill(view, 1)])
    job = Job(Work("", "<fill>", (), steps, view.to_json(), ()), (), (3,), torch.float32)
    with WatchedWorkers(device="cpu") as workers:
        outcomes, windows = workers.clocked([job, job])
        plain = workers.run([job])
    assert [outcome.status for outcome in (*outcomes, *plain)] == ["returned"] * 3
    assert set(windows) == {0, 1}
    assert all(seconds >= 0 for seconds in windows.values())


def test_who_times_is_alone_on_the_gpu_and_who_checks_is_not() -> None:
    def free_for(kind: int) -> bool:
        descriptor = os.open(gpu_lock.LOCK, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True

    with gpu_lock.hold_gpu(exclusive=False):
        assert free_for(fcntl.LOCK_SH)
        assert not free_for(fcntl.LOCK_EX)
    with gpu_lock.hold_gpu(exclusive=True):
        assert not free_for(fcntl.LOCK_SH)
    assert free_for(fcntl.LOCK_EX)
