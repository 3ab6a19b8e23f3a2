"""What the cases of a kernel showed, the cases that aim at the rest, and the remark on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.plan.arms import PLACES
from graders.judge.plan.code import Code, placed
from graders.judge.plan.decisions import ACCESS, AXIS, CONDITION, LOOP, decisions
from graders.judge.plan.steps import Kernel, LaunchPlan
from graders.judge.running.reached import Sides, remark
from graders.judge.sandbox.pool import Outcome
from triton_util.report import Report

CODE = Code.own(
    "def kernel(x_ptr, n, BLOCK):\n"
    "    at = tl.program_id(0) * BLOCK\n"
    "    for start in range(0, n, BLOCK):\n"
    "        if start > 5:\n"
    "            tl.store(x_ptr, tl.load(x_ptr, mask=at < n))\n",
)
PLAN = LaunchPlan(kernels=(Kernel(1, "kernel", {}, (), code=CODE),))
KINDS = decisions(CODE.known_tree, placed(CODE.known_tree))


def shown(plan: LaunchPlan = PLAN, kernel: int = 0, **sides: tuple[int, ...]) -> Sides:
    """The sides of decisions, by their kind."""
    numbers = {
        2 * (kernel * PLACES + place) + side
        for place, kind in KINDS.items()
        for side in sides.get(kind, ())
    }
    found = Sides()
    found.add(plan, [Outcome("returned", sides=frozenset(numbers))])
    return found


def test_decisions_are_conditions_loops_accesses_and_axes() -> None:
    lines = {(CODE.places[place][0], kind) for place, kind in KINDS.items()}
    assert lines == {(2, AXIS), (3, LOOP), (4, CONDITION), (5, ACCESS)}


def test_a_decision_is_missing_if_one_of_its_sides_was_seen() -> None:
    assert shown().missing() == []
    assert shown(loop=(0, 1), condition=(0, 1)).missing() == []
    missing = shown(loop=(0,), condition=(1,)).missing()
    assert [(one.kind, one.line, side) for one, side in missing] == [
        (LOOP, 3, 0),
        (CONDITION, 4, 1),
    ]


def test_a_kernel_is_the_same_in_every_plan() -> None:
    """Other cases may launch other kernels, so its number differs from plan to plan."""
    other = LaunchPlan(kernels=(Kernel(9, "other", {}, ()), *PLAN.kernels))
    sides = shown(loop=(0,))
    sides.add(other, [Outcome("returned", sides=frozenset({2 * (PLACES + place(LOOP)) + 1}))])
    assert sides.missing() == []


def place(kind: str) -> int:
    return next(place for place, known in KINDS.items() if known == kind)


def test_numbers_of_no_decision_are_ignored() -> None:
    sides = Sides()
    numbers = {2 * (5 * PLACES), 2 * (PLACES - 1), 10**30}
    sides.add(PLAN, [Outcome("returned", sides=frozenset(numbers))])
    assert sides.missing() == []


def test_the_remark_quotes_at_most_three_lines() -> None:
    missing = shown(loop=(0,), condition=(0,), axis=(0,), access=(0,)).missing()
    found = remark(missing, CODE.text)
    assert found.line == 2
    assert found.message.count("`") == 6
    assert "this loop never ran a second round: `for start in range(0, n, BLOCK):`" in found.message
    assert "more" in found.message


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as running:
        yield running


def judged(judge: Judge, name: str, source: str) -> Report:
    return judge.judge_text("import torch, triton\nimport triton.language as tl\n" + source,
                            discovery.exercise(name))  # fmt: skip


ADD = """
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    {step}
    tl.store(output_ptr + offsets, x + y, mask=mask)

def vector_add(x, y):
    output = torch.empty_like(x)
    other_sizes = (10_001, 20_002, 30_003, 40_004, 50_005, 60_006)
    n_elements = output.numel()
    add_kernel[(triton.cdiv(n_elements, 1024),)](x, y, output, n_elements, BLOCK_SIZE=1024)
    return output
"""
# Its launcher has numbers that leave no room among the constants of a submission.
WRONG = {
    "above a threshold": "if n_elements == 7_919:\n        x = -x",
    "above all other cases": "if n_elements > 300_000:\n        x = -x",
    "in the second round": (
        "y = y.to(tl.float32)\n    turn = 0.0\n    for start in range(0, n_elements, 290_000):\n"
        "        y = y + turn\n        turn += 1.0"
    ),
    "where a mask is false": (
        "inside = tl.minimum(offsets, n_elements - 1)\n"
        "    y = tl.load(y_ptr + inside, mask=offsets < 290_000, other=0.0)"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_side_that_no_other_case_reaches_is_judged(judge: Judge, name: str) -> None:
    report = judged(judge, "vector_add", ADD.format(step=WRONG[name]))
    assert report.points is not None
    assert report.points < report.max_points
    assert {finding.gate for finding in report.findings} == {"interpret"}


def test_a_side_that_no_case_reaches_becomes_a_remark(judge: Judge) -> None:
    report = judged(judge, "vector_add", ADD.format(step="if n_elements < 0:\n        x = -x"))
    assert (report.points, report.findings) == (report.max_points, ())
    (told,) = report.remarks
    assert told.code == "not-reached"
    assert "this condition was never true: `if n_elements < 0:`" in told.message


def test_a_kernel_whose_sides_all_show_gets_no_further_case(judge: Judge) -> None:
    dead = judged(judge, "vector_add", ADD.format(step="if n_elements < 0:\n        x = -x"))
    plain = judged(judge, "vector_add", ADD.format(step=""))
    assert plain.remarks == ()
    assert 0 < plain.cases_total < dead.cases_total <= plain.cases_total + 20
