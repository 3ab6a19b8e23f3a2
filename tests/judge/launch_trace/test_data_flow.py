"""What a plan does with data besides launching, as the judge reads it out of the plan alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graders.judge.launch_trace.data_flow import launched_kernels, of_copies
from graders.judge.plan.steps import (
    Allocate,
    CasePlan,
    Copy,
    Kernel,
    Launch,
    LaunchPlan,
    Step,
    TensorRef,
    Trial,
    Tune,
)
from graders.judge.records import TensorSpec
from tests.support.exercise_records import an_exercise

ARGS = (TensorSpec((8,)), TensorSpec((8,)))
PLAIN = an_exercise()
MOVING = replace(PLAIN, forbids=frozenset({"copies"}))


def ref(storage: int, dtype: str = "float32") -> TensorRef:
    return TensorRef(storage, dtype, (8,), (1,), 0)


def case(*steps: Step, result: int = 2) -> CasePlan:
    return CasePlan(steps, ref(result).to_json(), (0, 1))


def codes(found: Any) -> list[str]:
    return [finding.code for finding in found]


def launch(*positional: Any, kernel: int = 0, **named: Any) -> Launch:
    return Launch(kernel, [1], positional, named, 7)


OUT = Allocate(2, "float32", 8)
SCRATCH = Allocate(3, "float64", 8)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([OUT, Copy(ref(2), ref(0))], ["torch-computes"]),
        ([OUT, Copy(ref(1), ref(0))], ["torch-computes"]),
        ([SCRATCH, Copy(ref(3, "float64"), ref(0))], []),
        ([SCRATCH, Copy(ref(3, "float64"), ref(0, "int32"))], ["torch-computes"]),
        ([OUT, SCRATCH, Copy(ref(2), ref(3, "int64"))], ["torch-computes"]),
        ([SCRATCH, Copy(ref(3, "float32"), ref(0))], []),  # the bytes as they are
    ],
)
def test_copies(steps: Sequence[Step], expected: list[str]) -> None:
    assert codes(of_copies(case(*steps), PLAIN, ARGS)) == expected


@pytest.mark.parametrize(
    ("steps", "title"),
    [
        ([OUT, Copy(ref(2), ref(0))], "The result begins as a copy of an argument"),
        ([OUT, Copy(ref(1), ref(2))], "torch writes into an argument"),
        ([OUT, Copy(ref(1), ref(0))], "torch writes into an argument"),
    ],
)
def test_a_copy_from_or_to_an_argument_says_which(steps: Sequence[Step], title: str) -> None:
    (found,) = of_copies(case(*steps), PLAIN, ARGS)
    assert found.title == title
    assert "out = torch.empty_like(x)" in found.next_step


def test_a_few_conversions_are_fine_and_many_are_not() -> None:
    there = Copy(ref(3, "float64"), ref(2))
    assert codes(of_copies(case(OUT, SCRATCH, *[there] * 12), PLAIN, ARGS)) == []
    assert codes(of_copies(case(OUT, SCRATCH, *[there] * 13), PLAIN, ARGS)) == ["torch-computes"]


def test_a_forged_copy_of_more_elements_than_there_are_numbers_is_judged() -> None:
    endless = TensorRef(0, "float32", (1 << 40, 1 << 40), (0, 0), 0)
    copied = Copy(replace(endless, storage=2), endless)
    assert codes(of_copies(case(OUT, copied), PLAIN, ARGS)) == ["torch-computes"]


def test_where_moving_is_the_exercise_no_copy_is_let_pass() -> None:
    found = of_copies(case(OUT, SCRATCH, Copy(ref(3, "float64"), ref(0))), MOVING, ARGS)
    assert codes(found) == ["torch-computes"]


def tuned(count: int, **given: Any) -> Tune:
    trials = [
        Trial({"BLOCK": 16 << n % 6}, (), (launch(BLOCK=16 << n % 6),), (), (launch(BLOCK=16),))
        for n in range(count)
    ]
    return Tune(0, "key", count, False, "kernel", {}, tuple(trials), **given)


def test_kernels_are_found_through_names_arguments_and_hooks() -> None:
    kernels = [Kernel(n, f"k{n}", {}, ()) for n in range(6)]
    kernels[1] = replace(kernels[1], names={"f": {"tuple": [{"kernel": 2}]}})
    hooked = replace(tuned(1), finish=(launch({"constexpr": {"kernel": 3}}, kernel=1),))
    plan = LaunchPlan(tuple(kernels), cases=(case(hooked), case(launch(kernel=5))))
    assert launched_kernels(plan, plan.cases[:1]) == {0, 1, 2, 3}
