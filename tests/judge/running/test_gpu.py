"""The gate gpu: what it runs, what it calls a difference, and what harms nobody else.

Without a GPU the results come from a stand-in for the workers; with one from real kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from graders.judge import discovery
from graders.judge.cases.prepared import prepare
from graders.judge.compiling.process import CompileWorker
from graders.judge.launch_trace.gate import capture
from graders.judge.records import (
    Case,
    Exercise,
    GraderError,
    ReturnedTensor,
    TensorSpec,
    Tolerance,
)
from graders.judge.running.gpu import gpu_gate
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.gpu_lock import hold_gpu
from graders.judge.sandbox.pool import Job, Outcome, Workers
from tests.judge.running import gpu_kernels as kernels
from tests.support.capturing import SECRET
from tests.support.exercise_records import an_exercise
from tests.support.paths import ROOMS
from tests.support.submissions import submission
from triton_util.report import Finding

RIGHT = ROOMS.kernels("vector_add") / "correct" / "textbook.py"
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
Compute = Callable[..., torch.Tensor]
Judged = Callable[..., list[Finding]]


@pytest.fixture(autouse=True)
def a_turn_on_the_gpu() -> Iterator[None]:
    """Tests of other files may be timing on it."""
    with hold_gpu(exclusive=False):
        yield


class StandIn:
    """Workers whose results `compute(job number, *args)` gives.

    A run with a number in the undefined lanes gives `filled`.
    """

    device = "cuda"

    def __init__(self, compute: Compute, filled: float | None = None) -> None:
        self._compute, self._filled = compute, filled
        self.jobs: list[Job] = []

    def run(self, jobs: Sequence[Job], **limits: Any) -> list[Outcome]:
        return [self._one(job) for job in jobs]

    def _one(self, job: Job) -> Outcome:
        self.jobs.append(job)
        if "other=77" in str(job.work.kernels) and self._filled is not None:
            return Outcome("returned", torch.full(job.out_shape, self._filled))
        return Outcome("returned", self._compute(len(self.jobs), *job.args))


def exercise(*specs: TensorSpec, reference: Compute, **fields: Any) -> Exercise:
    """An exercise of one case."""
    made = an_exercise(
        parameters=tuple("xyz"[: len(specs)]), cases=(Case("usual", specs),), **fields
    )
    return replace(made, reference=reference)


F32, F16 = torch.float32, torch.float16
EXACT = Tolerance(rel=0.0, acc=1e-12)
ADD = exercise(TensorSpec((300,)), TensorSpec((300,)), reference=lambda x, y: x + y)
PRODUCT = exercise(
    TensorSpec((40, 50)),
    TensorSpec((50, 30)),
    reference=lambda a, b: a @ b,
    magnitude=lambda a, b: a.abs() @ b.abs(),
)
TOTAL = exercise(
    TensorSpec((1 << 20,)),
    reference=lambda x: x.sum().reshape(1),
    magnitude=lambda x: x.abs().sum().reshape(1),
    tolerance={F32: EXACT},
)
ROUNDED = exercise(  # what the interpreter gives: the product rounded before the difference
    TensorSpec((4000,), F16),
    TensorSpec((4000,), F16),
    reference=lambda x, y: (x * x).half().double() - y,
    magnitude=lambda x, y: x * x + y.abs(),
    tolerance={F16: EXACT},
)
MAXIMUM = exercise(TensorSpec((100,), shift=-50.0), reference=lambda x: x.max().reshape(1))


@pytest.fixture(scope="module")
def compiler() -> Iterator[CompileWorker]:
    with CompileWorker() as running:
        yield running


@pytest.fixture
def judged(compiler: CompileWorker) -> Callable[..., list[Finding]]:
    """The findings of the gate for one submission."""

    def judge(
        exercise: Exercise, workers: Any, source: str = kernels.ADD, large: Sequence[Case] = ()
    ) -> list[Finding]:
        planned = planned_jobs(compiler, exercise, source, large)
        cases = prepare(exercise, exercise.cases, SECRET)
        more = prepare(exercise, large, SECRET, first=len(cases))
        return gpu_gate(planned, exercise, cases, more, workers)[1]

    return judge


def planned_jobs(
    compiler: CompileWorker, exercise: Exercise, source: str, large: Sequence[Case] = ()
) -> PlannedJobs:
    """The plan of a launcher called `solve`, for the cases and the large ones."""
    cases = [*exercise.cases, *large]
    captured = capture(submission(source, "solve"), exercise, cases, compiler)
    return PlannedJobs(source, captured)


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


# ------------------------------------------------------------------ with a stand-in for a GPU


def test_what_is_right_passes_and_runs_once(judged: Judged) -> None:
    workers = StandIn(lambda run, x, y: x + y)
    large = Case("large", (TensorSpec((5000,)), TensorSpec((5000,))))
    assert judged(ADD, workers, large=[large]) == []
    ran = [(job.out_shape, job.schedule) for job in workers.jobs]
    assert ran == [((300,), "grid"), ((5000,), "grid")]


def tf32(x: torch.Tensor) -> torch.Tensor:
    """Rounded to 10 bits of mantissa."""
    return ((x.view(torch.int32) + (1 << 12)) & ~((1 << 13) - 1)).view(torch.float32)


DIFFERENCES: list[tuple[str, Exercise, str, Compute]] = [
    ("tf32-on-gpu", PRODUCT, kernels.SUM_OF_PRODUCTS, lambda run, a, b: tf32(a) @ tf32(b)),
    ("race-on-gpu", TOTAL, kernels.RACE, lambda run, x: x[: run * 1000].sum().reshape(1)),
    (
        "atomic-order",
        TOTAL,
        kernels.ATOMIC,
        lambda run, x: (x.double().sum() + 0.01 * run).float().reshape(1),
    ),
    (
        "half-arithmetic-on-gpu",
        ROUNDED,
        kernels.FUSED,
        lambda run, x, y: (x.double() ** 2 - y.double()).half(),
    ),
    ("undefined-lanes-on-gpu", MAXIMUM, kernels.MAXIMUM, lambda run, x: torch.zeros(1)),
    (
        "differs-on-gpu",
        ADD,
        kernels.ADD.replace("offsets, mask=mask)", "offsets, mask=mask, other=0.0)"),
        lambda run, x, y: x + 2 * y,
    ),
]
named = pytest.mark.parametrize(
    ("code", "exercise", "source", "compute"), DIFFERENCES, ids=[d[0] for d in DIFFERENCES]
)


@named
def test_a_known_difference_is_named(
    judged: Judged, code: str, exercise: Exercise, source: str, compute: Compute
) -> None:
    filled = 77.0 if code == "undefined-lanes-on-gpu" else None
    (finding,) = judged(exercise, StandIn(compute, filled=filled), source)
    assert finding.code == code
    assert finding.gate == "gpu"
    assert finding.next_step
    assert "elements are wrong" in finding.message


def test_a_reason_is_sought_in_a_few_cases_and_holds_for_all(judged: Judged) -> None:
    (case,) = PRODUCT.cases
    many = replace(PRODUCT, cases=tuple(replace(case, name=f"{n}") for n in range(6)))
    workers = StandIn(lambda run, a, b: tf32(a) @ tf32(b))
    assert codes(judged(many, workers, kernels.SUM_OF_PRODUCTS)) == ["tf32-on-gpu"]
    assert len(workers.jobs) == 6 + 3 * 4  # as they are, and three of them repeated


def test_the_reason_is_sought_in_the_result_that_is_wrong(judged: Judged) -> None:
    terms = PRODUCT.magnitude
    assert terms is not None
    two = replace(
        PRODUCT,
        reference=lambda a, b: (a @ b, (a @ b).T),
        results=(
            ReturnedTensor("the product", magnitude=terms),
            ReturnedTensor("its transpose", magnitude=lambda a, b: terms(a, b).T),
        ),
    )
    source = f"""{kernels.SUM_OF_PRODUCTS}
product = solve

def solve(a, b):
    return product(a, b), product(b.T.contiguous(), a.T.contiguous())
"""

    def computed(run: int, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b if run == 1 else (tf32(a) @ tf32(b)).T

    workers = StandIn(computed)
    assert codes(judged(two, workers, source)) == ["tf32-on-gpu"]
    assert {job.out_shape for job in workers.jobs[1:]} == {(30, 40)}


def test_the_load_without_other_is_pointed_at(judged: Judged) -> None:
    workers = StandIn(lambda run, x: torch.zeros(1), filled=77.0)
    (finding,) = judged(MAXIMUM, workers, kernels.MAXIMUM)
    assert finding.line == kernels.UNMASKED_LINE


def test_lanes_that_change_nothing_are_not_blamed(judged: Judged) -> None:
    steady = StandIn(lambda run, x: torch.zeros(1))
    assert codes(judged(MAXIMUM, steady, kernels.MAXIMUM)) == ["differs-on-gpu"]


def test_a_failure_of_a_large_case_alone_is_explained_like_any_other(judged: Judged) -> None:
    """The interpreter has not seen it, so nothing says that the two disagree."""
    half = Case("large", (TensorSpec((5000,)), TensorSpec((5000,))))

    def forgets_y(run: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y if x.numel() < 5000 else x

    assert codes(judged(ADD, StandIn(forgets_y), large=[half])) == ["input-returned"]


class Full(StandIn):
    """Says that it has no room."""

    def _one(self, job: Job) -> Outcome:
        return Outcome("no-room")


def test_a_gpu_without_room_is_no_fault_of_the_submission(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (1 << 20, 80 << 30))
    with pytest.raises(GraderError, match="too little room for the inputs of 'usual'"):
        judged(ADD, Full(lambda run, x, y: x + y))


def test_that_there_is_no_room_is_not_believed_where_there_is(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (70 << 30, 80 << 30))
    assert codes(judged(ADD, Full(lambda run, x, y: x + y))) == ["crashed"]


@pytest.mark.parametrize("name", list(discovery.of_kernels()))
def test_every_exercise_has_large_cases(name: str) -> None:
    record = discovery.exercise(name)
    assert record.large, "give the record `large=`: cases that only a GPU does quickly"
    taken = {case.name for case in record.cases}
    for case in record.large:
        assert case.part in record.parts
        assert case.name not in taken


# ------------------------------------------------------------------------------ with a real one


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(device="cuda") as running:
        yield running


@needs_gpu
def test_a_right_kernel_passes_on_the_gpu(judged: Judged, workers: Workers) -> None:
    large = Case("large", (TensorSpec((1 << 22,)), TensorSpec((1 << 22,))))
    assert judged(ADD, workers, large=[large]) == []


@needs_gpu
@named
def test_a_kernel_shows_the_difference_on_the_gpu(
    judged: Judged, workers: Workers, code: str, exercise: Exercise, source: str, compute: Compute
) -> None:
    wrong = source.replace("+ tl.load", "+ 2 * tl.load") if code == "differs-on-gpu" else source
    assert codes(judged(exercise, workers, wrong)) == [code]


@needs_gpu
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("(out_ptr + offsets", "(out_ptr + (1 << 40) + offsets", "crashed"),
        (
            "    mask =",
            "    while n > 0:\n        tl.atomic_add(out_ptr, 0.0)\n    mask =",
            "timeout",
        ),
        (
            "out = torch",
            "more = torch.empty(1 << 42, device='cuda')\n    out = torch",
            "out-of-memory",
        ),
        (
            "out = torch",
            "more = torch.empty(1 << 32, device='cuda')\n    out = torch",
            "out-of-memory",
        ),
    ],
    ids=["illegal access", "endless", "more than there is", "more than its share"],
)
def test_misbehaviour_is_a_finding_and_harms_nobody_else(
    judged: Judged, workers: Workers, old: str, new: str, code: str
) -> None:
    with Workers(device="cuda") as others:
        assert judged(ADD, others) == []
        assert codes(judged(ADD, workers, kernels.ADD.replace(old, new))) == [code]
        assert judged(ADD, others) == []
    assert judged(ADD, workers) == []


@needs_gpu
def test_an_autotuner_tries_one_configuration_for_each_shape(
    workers: Workers, compiler: CompileWorker
) -> None:
    cases = tuple(Case(f"{n}", (TensorSpec((100 + n,)),)) for n in range(4))
    record = replace(exercise(TensorSpec((100,)), reference=lambda x: x), cases=cases)
    planned = planned_jobs(compiler, record, kernels.TUNED)
    jobs = [planned.job(item, "grid") for item in prepare(record, cases, SECRET)]
    outputs = [outcome.output for outcome in workers.run([j for j in jobs if isinstance(j, Job)])]
    assert [float(output[0]) for output in outputs if output is not None] == [32, 64, 128, 32]


@needs_gpu
@pytest.mark.parametrize(
    ("name", "source", "gpu"),
    [("vector_add", RIGHT.read_text(), "passed"), ("matmul", kernels.MATMUL_BY_SUM, "failed")],
)
def test_marks_of_a_host_without_a_gpu_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str, gpu: str
) -> None:
    judging = pytest.importorskip("graders.grading.judging")
    from graders.grading.parallel import Terms, judge_task
    from graders.grading.store import Marks, MarksStore

    code, store = (source,), MarksStore(tmp_path)
    monkeypatch.setenv(judging.MODE, "interpret")
    judging.keep(store, code, name, Marks.from_json(judge_task(code, name, Terms())))
    monkeypatch.setenv(judging.MODE, "all")
    earlier = judging.known_marks(store, code, name)
    assert earlier is not None
    assert earlier.awaits_gpu
    done = judge_task(code, name, Terms(earlier.to_json()))
    before, after = earlier.report, done["report"]
    assert after["gates"] == {**before["gates"], "gpu": gpu}
    assert [finding["code"] for finding in after["findings"] if finding["gate"] == "gpu"] == (
        ["tf32-on-gpu"] if gpu == "failed" else []
    )
    judging.close_marker()
