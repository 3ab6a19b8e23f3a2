"""The traffic gate: waste fails, another tiling passes, the figures of the solutions are fresh."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from graders.authoring.rooms import Rooms, find_root
from graders.authoring.traffic_figures import SECRET, figures
from graders.judge import discovery
from graders.judge.cases.prepared import Prepared
from graders.judge.compiling.process import CompileWorker
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise
from graders.judge.running.interpret import run_cases
from graders.judge.running.jobs import PlannedJobs
from graders.judge.running.traffic import FIGURES, measure, traffic_case, traffic_gate
from graders.judge.sandbox.pool import Workers
from tests.support.capturing import planned
from tests.support.paths import ROOT, correct
from triton_util.report import Finding

TUNED = "autotuned_matmul"
WASTEFUL = """
import torch, triton
import triton.language as tl

@triton.jit
def wasteful_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    mine = tl.program_id(0) * BLOCK_SIZE
    for start in range(0, n_elements, BLOCK_SIZE):
        offsets = start + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements
        total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
        tl.store(output_ptr + offsets, total, mask=mask & (start == mine))

def vector_add(x, y):
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 4096),)
    wasteful_kernel[grid](x, y, output, x.numel(), BLOCK_SIZE=4096)
    return output
"""


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as workers:
        yield workers


@pytest.fixture(scope="module")
def capturing() -> Iterator[CompileWorker]:
    with CompileWorker() as running:
        yield running


def told_of(
    jobs: PlannedJobs, exercise: Exercise, prepared: list[Prepared], workers: Workers
) -> tuple[list[Finding], list[Finding]] | None:
    """What the gate says where the bytes were counted while the case was judged."""
    item = traffic_case(prepared)
    assert item is not None
    run = run_cases(jobs, [item], workers, orders=False, counted=item)
    assert run.failures == []
    return traffic_gate(exercise, prepared, run.outcome_of(item))


def test_a_kernel_that_reads_everything_in_every_program_is_refused(
    workers: Workers, capturing: CompileWorker
) -> None:
    exercise = discovery.exercise("vector_add")
    jobs, prepared = planned(WASTEFUL, capturing, exercise)
    told = told_of(jobs, exercise, prepared, workers)
    assert told is not None
    findings, remarks = told
    assert ([finding.code for finding in findings], remarks) == (["too-much-traffic"], [])
    assert "times over" in findings[0].message


@pytest.mark.parametrize("kernel", ["textbook", "autotuned"])  # choosing a block is not counted
def test_vector_add_moves_three_times_its_elements(
    workers: Workers, capturing: CompileWorker, kernel: str
) -> None:
    exercise = discovery.exercise("vector_add")
    text = correct("vector_add", kernel)
    jobs, prepared = planned(text, capturing, exercise)
    item = traffic_case(prepared)
    assert item is not None
    moved = measure(jobs, item, workers)
    assert moved is not None
    assert moved.total == 3 * item.args[0].numel() * item.args[0].element_size()


def test_the_figures_of_the_solutions_are_fresh() -> None:
    with Judge(secret=SECRET) as judge:
        kept, found = json.loads(FIGURES.read_text()), figures(Rooms(find_root(ROOT)), judge)
    # Which config a tuned kernel ends up with depends on the compiler: each triton has its own.
    tuned = [kept.pop(TUNED), found.pop(TUNED)]
    advice = (
        "graders/course/generated/traffic.json is not what the solutions move: "
        "run `tilewise build --traffic`"
    )
    assert kept == found, advice
    assert len({tuple(cases) for cases in tuned}) == 1, advice
    for case, bytes_moved in tuned[0].items():
        assert 0.5 <= tuned[1][case] / bytes_moved <= 2.0, advice


@pytest.mark.parametrize("promised", [False, True])
def test_what_is_promised_costs_and_what_is_not_is_a_remark(
    workers: Workers, capturing: CompileWorker, promised: bool
) -> None:
    exercise = discovery.exercise("grouped_matmul")
    exercise = replace(
        exercise, remarks=tuple(replace(r, promised=promised) for r in exercise.remarks)
    )
    plain = correct("matmul")
    jobs, prepared = planned(
        plain.replace("def matmul(", "def grouped_matmul("), capturing, exercise
    )
    told = told_of(jobs, exercise, prepared, workers)
    assert told is not None
    findings, remarks = ([finding.code for finding in part] for part in told)
    assert (findings if promised else remarks) == ["not-grouped"]
    assert (remarks if promised else findings) == []
