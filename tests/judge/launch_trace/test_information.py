"""How much Python tells the kernels, counted in the launch plan alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graders.judge.launch_trace.information import (
    allowed_bits,
    bits_handed_over,
    literals,
    of_numbers,
)
from graders.judge.plan.steps import (
    CasePlan,
    Constant,
    Fill,
    Kernel,
    Launch,
    LaunchPlan,
    Step,
    TensorRef,
    Trial,
    Tune,
)
from graders.judge.records import Plain, TensorSpec

ARGS: tuple[Plain, ...] = (TensorSpec((8,)), TensorSpec((8,)))
OUT = TensorRef(2, "float32", (8,), (1,), 0)
NUMBERS = random.Random(1)
BITS = [NUMBERS.getrandbits(60) for _ in range(60)]


def launch(*positional: Any, kernel: int = 0, **named: Any) -> Launch:
    return Launch(kernel, [1], positional, named, 7)


def titles(*steps: Step, module: Sequence[Step] = (), **names: Any) -> list[str]:
    """The titles of what is found in a call of a kernel around which these names stand."""
    case = CasePlan(tuple(steps), OUT.to_json(), (0, 1))
    kernel = Kernel(1, "kernel", names, ())
    plan = LaunchPlan((kernel,), CasePlan(tuple(module)), (case,))
    return [finding.title for finding in of_numbers(plan, case, ARGS, frozenset())]


COMPUTES = ["Python computes here, not the kernel"]
WALKS = ["Python loops over the tiles, not the kernel"]
TABLE = TensorRef(4, "int64", (60,), (1,), 0)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([launch(OUT.to_json(), 60, 40, 5, BLOCK=256)], []),
        ([launch(OUT.to_json(), 60, row) for row in range(200)], []),
        ([launch(OUT.to_json(), row * row % 641) for row in range(200)], WALKS),
        ([Fill(OUT, number) for number in BITS], WALKS),
        ([replace(launch(OUT.to_json()), grid=[number]) for number in BITS], WALKS),
        ([launch(replace(OUT, offset=number).to_json()) for number in BITS], WALKS),
        ([Constant(4, "int64", (1, 2)), launch(TABLE.to_json())], []),
        ([Constant(4, "int64", tuple(BITS)), launch(TABLE.to_json())], COMPUTES),
        ([launch({"tuple": BITS})], COMPUTES),
        (
            [launch({"constexpr": {"tuple": [{"tuple": BITS[:30]}, {"tuple": BITS[30:]}]}})],
            COMPUTES,
        ),
        ([launch("x" * 1000)], COMPUTES),
    ],
)
def test_numbers_count_wherever_they_are(steps: Sequence[Step], expected: list[str]) -> None:
    assert titles(*steps) == expected


def test_numbers_around_a_kernel_count() -> None:
    assert titles(launch(1), SCALE={"constexpr": 1.5}) == []
    assert titles(launch(1), MASK={"constexpr": {"tuple": BITS}}) == COMPUTES
    numbers = {f"n{place}": bits for place, bits in enumerate(BITS)}
    assert titles(launch(1), math={"numbers": numbers}) == COMPUTES


def test_a_table_of_the_module_counts_in_the_call_that_uses_it() -> None:
    table = Constant(4, "int64", tuple(BITS))
    assert titles(launch(TABLE.to_json()), module=[table]) == COMPUTES
    assert titles(launch(1), module=[table]) == []


def tuned(trials: Sequence[Launch], finish: Sequence[Step] = ()) -> Tune:
    made = tuple(Trial({}, (), (trial,), (), (trial,)) for trial in trials)
    return Tune(0, "key", len(made), False, "kernel", {}, made, tuple(finish))


def test_every_trial_of_a_tuner_counts() -> None:
    usual = [launch(OUT.to_json(), BLOCK=16 << n % 6, num_warps=1 << n % 4) for n in range(60)]
    assert titles(tuned(usual)) == []
    assert titles(tuned([launch(BLOCK=bits) for bits in BITS])) == WALKS
    assert titles(tuned(usual[:1], [Fill(OUT, bits) for bits in BITS])) == WALKS


def test_what_the_reader_has_anyway_costs_little() -> None:
    args: tuple[Plain, ...] = (TensorSpec((4001, 4003)), 0.3)
    steps = [launch(4001, 4003, 0.3, 77_777)]
    of_nothing = bits_handed_over((), frozenset(), [], steps, 10_000)
    of_case = bits_handed_over(args, frozenset(), [], steps, 10_000)
    of_both = bits_handed_over(args, literals("BLOCK = 77_777"), [], steps, 10_000)
    assert of_nothing > of_case + 64 > of_both + 64


def test_numbers_in_a_source_are_read() -> None:
    text = "BLOCK, X1 = 0x40, 1_024\nEPS = 1e-5 + .25 * 3.5E2 - 7."
    assert literals(text) == {64, 1024, 1e-5, 0.25, 350.0, 7.0}


def test_a_stack_of_matrices_may_have_a_table_of_places() -> None:
    stack: tuple[Plain, ...] = (TensorSpec((35, 20, 16)),)
    table = Constant(4, "int64", tuple(NUMBERS.getrandbits(20) for _ in range(35)))
    steps: list[Step] = [table, launch(TABLE.to_json())]
    assert bits_handed_over(stack, frozenset(), [], steps, 10_000) < allowed_bits(stack, steps)


def test_counting_stops_where_there_is_too_much() -> None:
    nested: Any = BITS[0]
    for _ in range(3):
        nested = {"tuple": [nested] * 200}
    assert bits_handed_over((), frozenset(), [], [launch(nested)] * 20_000, 1000) > 1000
