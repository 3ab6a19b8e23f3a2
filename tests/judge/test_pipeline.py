"""The gates in a row: which one runs after which, what is added up, what runs beside what."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from graders.judge import discovery, pipeline, runtime
from graders.judge.gates.protocol import NOT_RUN, Context, Gate, GateResult
from graders.judge.pipeline import GATE_NAMES, Judge
from graders.judge.records import GraderError
from graders.judge.runtime import Runtime
from graders.judge.sandbox import deadline
from tests.support.plans import constant
from triton_util.report import Finding, GateStatus, KernelResources, Report, Verdict

EXERCISE = discovery.exercise("vector_add")
SOURCE = "def vector_add(x, y):\n    return x\n"
SLIP = Finding("first", "slip", "A slip", "It slips.")
HINT = Finding("first", "hint", "A remark", "It could be shorter.")
PASSED, FAILED, UNRUN = GateStatus.PASSED, GateStatus.FAILED, GateStatus.NOT_RUN
Run = Callable[[Context], GateResult]


def passes(_: Context) -> GateResult:
    return GateResult.of(())


def fails(_: Context) -> GateResult:
    return GateResult.of((SLIP,))


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Report]]:
    """A report on one submission by gates of one's own."""
    with Judge(allow_unsandboxed=True) as judge:

        def judged(*gates: Gate) -> Report:
            monkeypatch.setattr(pipeline, "GATES", gates)
            monkeypatch.setattr(pipeline, "GATE_NAMES", tuple(gate.name for gate in gates))
            return judge.judge_text(SOURCE, EXERCISE)

        yield judged


def test_a_gate_names_only_gates_before_it() -> None:
    for number, gate in enumerate(pipeline.GATES):
        assert set(gate.after) <= set(GATE_NAMES[:number]), gate.name


def computes(_: Context) -> GateResult:
    while True:
        pass


def matches_for_ages(_: Context) -> GateResult:
    re.match(r"(a|a)*$", "a" * 64 + "b")
    return GateResult.of(())


def takes_no_word(_: Context) -> GateResult:
    for _ in range(3):
        with contextlib.suppress(Exception):
            computes(_)
    return GateResult.of(())


@pytest.mark.parametrize("gate", [computes, matches_for_ages])
def test_what_makes_the_judge_compute_without_end_is_ended(
    judged: Callable[..., Report], monkeypatch: pytest.MonkeyPatch, gate: Run
) -> None:
    """Nobody gets a zero for it: it may be the judge that is slow. The next one is judged."""
    monkeypatch.setattr(deadline, "JUDGE_SECONDS", 0.2)
    report = judged(Gate("first", gate), Gate("style", fails, after=("first",)))
    assert (report.verdict, report.points) == (Verdict.UNGRADED, None)
    assert [finding.code for finding in report.findings] == ["too-costly"]
    assert judged(Gate("first", passes)).verdict is Verdict.PASSED


def test_the_end_is_told_again_to_who_does_not_listen(
    judged: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "JUDGE_SECONDS", 0.1)
    monkeypatch.setattr(deadline, "_AGAIN_SECONDS", 0.1)
    judged(Gate("first", takes_no_word))  # it comes to an end


def test_waiting_and_preparing_cases_do_not_count(
    judged: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "JUDGE_SECONDS", 0.2)

    def waits(_: Context) -> GateResult:
        time.sleep(0.5)
        with deadline.not_counted():
            until = time.process_time() + 0.5
            while time.process_time() < until:
                pass
        return GateResult.of(())

    assert judged(Gate("first", waits)).verdict is Verdict.PASSED


def test_a_deadline_by_the_clock_is_the_machines(
    judged: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "WAITING_SECONDS", -1.0)

    def runs(context: Context) -> GateResult:
        context.runtime.workers("cpu").run([constant()])
        return GateResult.of(())

    report = judged(Gate("first", runs))
    assert report.verdict is Verdict.UNGRADED
    assert "too much to do" in report.findings[0].message


def test_a_new_gate_is_in_the_report_and_counts(judged: Callable[..., Report]) -> None:
    report = judged(Gate("first", passes), Gate("style", fails))
    assert report.gates == {"first": PASSED, "style": FAILED}
    assert report.to_line()["gates"] == {"first": "passed", "style": "failed"}
    assert Report.from_json(report.to_json()) == report
    assert (report.verdict, report.points, report.findings) == (Verdict.FAILED, 0, (SLIP,))


@pytest.mark.parametrize(("first", "second"), [(passes, PASSED), (fails, UNRUN)])
def test_a_gate_runs_after_those_that_it_names(
    judged: Callable[..., Report], first: Run, second: GateStatus
) -> None:
    report = judged(Gate("first", first), Gate("second", passes, after=("first",)))
    assert report.gates["second"] is second


def test_a_gate_that_did_not_run_lets_none_run_after_it(judged: Callable[..., Report]) -> None:
    report = judged(Gate("first", lambda _: NOT_RUN), Gate("second", fails, after=("first",)))
    assert report.gates == {"first": UNRUN, "second": UNRUN}
    assert (report.verdict, report.points) == (Verdict.PASSED, EXERCISE.max_points)


def test_what_a_gate_keeps_is_left_of_the_points(judged: Callable[..., Report]) -> None:
    report = judged(Gate("first", fails, keeps=0.5), Gate("second", fails, keeps=1.0))
    assert (report.verdict, report.points) == (Verdict.FAILED, EXERCISE.max_points / 2)


def test_a_concurrent_gate_runs_beside_the_next_and_ends_before_the_one_behind(
    judged: Callable[..., Report],
) -> None:
    both, order = threading.Barrier(2, timeout=30), []
    made = (KernelResources("k", 80, 16, 0, 0),)

    def beside(_: Context) -> GateResult:
        both.wait()
        order.append("beside")
        return GateResult.of((SLIP,), (HINT,), made)

    def main(_: Context) -> GateResult:
        both.wait()
        return GateResult.of((), (HINT,))

    def last(context: Context) -> GateResult:
        order.append("last")
        assert context.facts.resources == made
        return GateResult.of(())

    report = judged(Gate("beside", beside, concurrent=True), Gate("main", main), Gate("end", last))
    assert order == ["beside", "last"]
    assert report.gates == {"beside": FAILED, "main": PASSED, "end": PASSED}
    assert (report.findings, report.remarks, report.resources) == ((SLIP,), (HINT, HINT), made)


def test_what_a_gate_does_ahead_runs_beside_the_gates_before_it(
    judged: Callable[..., Report],
) -> None:
    both = threading.Barrier(2, timeout=30)

    def ahead(_: Context) -> None:
        both.wait()

    def main(_: Context) -> GateResult:
        both.wait()
        return GateResult.of(())

    def last(context: Context) -> GateResult:
        context.ahead["last"].result()
        return GateResult.of(())

    read = Gate("read", passes)
    report = judged(read, Gate("main", main), Gate("last", last, after=("main",), ahead=ahead))
    assert report.gates == {"read": PASSED, "main": PASSED, "last": PASSED}


def test_nothing_is_done_ahead_of_a_submission_that_is_not_read(
    judged: Callable[..., Report],
) -> None:
    begun: list[Context] = []
    judged(Gate("read", fails), Gate("last", passes, after=("read",), ahead=begun.append))
    assert begun == []


def test_what_is_done_ahead_is_stopped_where_a_gate_before_it_fails(
    judged: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = threading.Event()
    monkeypatch.setattr(Runtime, "stop_building", lambda _: stopped.set())

    def ahead(_: Context) -> None:
        assert stopped.wait(timeout=30)

    read, main = Gate("read", passes), Gate("main", fails)
    report = judged(read, main, Gate("last", passes, after=("main",), ahead=ahead))
    assert report.gates == {"read": PASSED, "main": FAILED, "last": UNRUN}
    assert stopped.is_set()


def test_a_gate_may_wait_for_a_concurrent_one(judged: Callable[..., Report]) -> None:
    report = judged(Gate("first", fails, concurrent=True), Gate("next", passes, after=("first",)))
    assert report.gates == {"first": FAILED, "next": UNRUN}


@pytest.mark.parametrize("concurrent", [False, True])
def test_a_fault_of_ours_in_a_gate_costs_nothing(
    judged: Callable[..., Report], concurrent: bool
) -> None:
    def broken(_: Context) -> GateResult:
        raise GraderError("the disk is full")

    report = judged(Gate("first", fails), Gate("broken", broken, concurrent=concurrent))
    assert (report.verdict, report.points) == (Verdict.UNGRADED, None)
    assert [finding.code for finding in report.findings] == ["could-not-grade"]


@pytest.mark.parametrize(("idle", "started"), [(runtime.IDLE_FOR_SECOND, True), (3, False)])
def test_a_judge_that_waits_for_a_gpu_compiles_in_two_processes(
    monkeypatch: pytest.MonkeyPatch, idle: int, started: bool
) -> None:
    monkeypatch.setattr(runtime, "idle_processors", lambda: idle)
    monkeypatch.setattr(Runtime, "has_gpu", True)
    monkeypatch.setattr(Runtime, "workers", lambda *_: None)
    with Judge(mode="all", allow_unsandboxed=True) as judge:
        judge.warm()
        second = judge.runtime.second_compiler()
        assert (second is not None) is started
        assert second is None or second is not judge.runtime.compiler()
    assert judge.runtime.second_compiler() is None


def test_a_kernel_that_does_not_compile_is_refused_once() -> None:
    refused = [Finding("compile", "compile-error", "Title", str(n), 5) for n in range(2)]
    error = Finding("interpret", "kernel-error", "Title", "Words.", 6)
    other = Finding("interpret", "missing-mask", "Title", "Words.", 4)
    assert pipeline.once([*refused, error, other]) == [refused[0], other]
    assert pipeline.once([error, other]) == [error, other]
