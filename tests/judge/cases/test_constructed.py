"""Cases by construction: what they combine, and whether every contract can be built."""

from __future__ import annotations

from itertools import combinations, product

import pytest
import torch

from graders.judge import discovery
from graders.judge.cases.constructed import (
    COUNT,
    PAST_GRID,
    SUMMED,
    Constants,
    constants_of,
    constructed,
    past_grids,
)
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Count, Tensor, Values
from graders.judge.cases.covering import covering
from graders.judge.cases.prepared import prepare
from graders.judge.plan.steps import CasePlan, Kernel, Launch, LaunchPlan, Parameter
from graders.judge.records import Case, TensorSpec

CONSTANTS = Constants((1024, 64, 16384, 16, 8), (132,))
EXERCISES = [name for name in discovery.of_kernels() if discovery.contract(name) is not None]
MATRIX = Contract(
    {"rows": Axis(), "columns": Axis(high=5000)},
    {"x": Tensor("rows columns", ("contiguous", "sliced"), (ORDINARY, Values(shift=-300.0)))},
    (torch.float32, torch.float16),
)


def test_every_pair_of_levels_meets():
    factors = {"a": "pqr", "b": (1, 2, 3, 4), "c": (True, False), "d": "xyz"}
    rows = covering(factors, 40, 1, lambda row: row, lambda row: row, lambda row: 0.0)
    for one, two in combinations(factors, 2):
        met = {(row[one], row[two]) for row in rows}
        assert met == set(product(factors[one], factors[two])), (one, two)


def test_a_row_that_is_not_allowed_never_appears():
    rows = covering(
        {"a": range(9), "b": range(9)},
        30,
        1,
        lambda row: row if row["a"] < row["b"] else None,
        lambda row: row,
        lambda row: 0.0,
    )
    assert rows
    assert all(row["a"] < row["b"] for row in rows)


def test_equal_submissions_get_equal_cases_and_a_secret_changes_them():
    exercise = discovery.exercise("softmax")
    once = constructed(exercise, MATRIX, CONSTANTS)
    assert constructed(exercise, MATRIX, CONSTANTS) == once
    assert constructed(exercise, MATRIX, CONSTANTS, secret=7) != once
    assert constructed(exercise, MATRIX, Constants((32,), ())) != once


def test_long_rows_meet_every_layout_and_every_class_of_values():
    made = constructed(discovery.exercise("softmax"), MATRIX, Constants((64,), ()))
    specs = [arg for case in made for arg in case.args if isinstance(arg, TensorSpec)]
    long = {(spec.view, spec.shift, spec.dtype) for spec in specs if spec.shape[1] > 64}
    assert {(view, shift) for view, shift, _ in long} == set(
        product(("contiguous", "sliced"), (0.0, -300.0))
    )
    assert {dtype for *_, dtype in long} == {torch.float32, torch.float16}
    assert min(spec.shape[1] for spec in specs) < 64


def test_a_count_passes_each_constant_on_an_axis_of_as_many_blocks():
    contract = Contract(
        {"m": Axis(), "k": Axis(high=4096)},
        {"a": Tensor("m k"), "splits": "splits"},
        (torch.float32,),
        counts={"splits": Count(high=600, of="k")},
    )
    made = constructed(discovery.exercise("row_sum"), contract, Constants((64, 32), ()))
    pairs = {(case.args[1], case.args[0].shape[1]) for case in made}
    assert (65, 65 * 32 + 1) in pairs  # 64 blocks of 64 are longer than the axis may be
    assert 600 in {splits for splits, _ in pairs}


def test_a_sum_in_bfloat16_shows():
    row = Contract(
        {"rows": Axis(), "columns": Axis()}, {"x": Tensor("rows columns")},
        (torch.float32, torch.bfloat16), sums=("columns",),
    )  # fmt: skip
    made = constructed(discovery.exercise("row_sum"), row, Constants((64,), ()))
    (long,) = [spec for (spec,) in (case.args for case in made) if spec.shape == (1, SUMMED)]
    assert (long.dtype, long.scale, long.shift) == (torch.bfloat16, 0.0, 1.1)


def test_an_expanded_column_may_be_that_of_wider_rows():
    tensor = Tensor("rows columns", ("contiguous", "expanded_columns"))
    assert tensor.layouts == ("contiguous", "expanded_columns", "first_column")
    assert Tensor("rows columns", ("sliced",)).layouts == ("sliced",)


def test_a_fixed_grid_needs_another_round():
    line = Contract({"n": Axis()}, {"x": Tensor("n")}, (torch.float32,))
    made = constructed(discovery.exercise("copy"), line, Constants((1024,), (98,)))
    assert any(case.args[0].shape == (98 * 1024 + 1,) for case in made)


def test_one_axis_is_longer_than_a_grid_may_be():
    shapes = [case.args[0].shape for case in past_grids(discovery.exercise("softmax"), MATRIX)]
    assert shapes == [(PAST_GRID, 1)]  # the contract has no such columns


def test_constants_come_from_the_launches_and_from_the_text():
    parameters = (Parameter("n"), Parameter("BLOCK_SIZE", "constexpr"))
    kernels = (Kernel(1, "k", {}, parameters),)

    def planned(n: int, programs: int) -> CasePlan:
        return CasePlan((Launch(0, [programs], (n,), {"BLOCK_SIZE": 256}),))

    cases = [Case(str(n), (TensorSpec((n,)),)) for n in (100, 5000, 9000)]
    plan = LaunchPlan(kernels, cases=(planned(100, 1), planned(5000, 16), planned(9000, 16)))
    found = constants_of(plan, cases, (0.5, 1, 256, 4096))
    assert found == Constants((256, 4096), (16,))


@pytest.mark.parametrize("name", EXERCISES)
def test_every_constructed_case_is_inside_the_contract(name: str):
    """Each case can be built, and the reference computes its result."""
    exercise, contract = discovery.exercise(name), discovery.contract(name)
    assert contract is not None
    made = constructed(exercise, contract, CONSTANTS)
    assert len(made) >= COUNT // 2
    assert {case.part for case in made} <= set(exercise.parts)
    assert all(len(case.args) == len(exercise.parameters) for case in made)
    prepare(exercise, made[::7], b"secret")
