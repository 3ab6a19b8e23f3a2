"""The tolerance: wide enough for any honest order of summation, too narrow for lossy ones."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from graders.judge.cases import tensors
from graders.judge.cases.compare import expect, wrong_elements
from graders.judge.records import Case, Exercise, TensorSpec


def make_exercise(reference: Any, magnitude: Any = None, **more: Any) -> Exercise:
    return Exercise(
        name="f",
        lesson="none",
        title="",
        parameters=("a", "b"),
        reference=reference,
        cases=(),
        hints=("", "", ""),
        misconceptions=(),
        parts={"core": 10},
        magnitude=magnitude,
        **more,
    )


MATMUL = make_exercise(lambda a, b: a @ b, lambda a, b: a.abs() @ b.abs())


def matrices(dtype: torch.dtype, k: int, fill: str = "normal") -> tuple[Any, ...]:
    spec = TensorSpec((33, k), dtype, fill=fill)  # type: ignore[arg-type]
    other = TensorSpec((k, 29), dtype, shift=1.0)
    return tensors.build(Case("c", (spec, other)), 0)


def split_sum(a: torch.Tensor, b: torch.Tensor, block: int, dtype: torch.dtype) -> torch.Tensor:
    total = torch.zeros(a.shape[0], b.shape[1], dtype=dtype)
    for start in range(0, a.shape[1], block):
        part = a[:, start : start + block].float() @ b[start : start + block].float()
        total = (total.float() + part).to(dtype)
    return total


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("fill", ["normal", "cancelling"])
@pytest.mark.parametrize("block", [1, 16, 64])
def test_any_order_of_fp32_accumulation_is_accepted(
    dtype: torch.dtype, fill: str, block: int
) -> None:
    a, b = matrices(dtype, 301, fill)
    result = split_sum(a, b, block, torch.float32).to(dtype)
    assert not bool(wrong_elements(result, expect(MATMUL, (a, b))[0]).any())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_accumulating_in_half_precision_is_refused(dtype: torch.dtype) -> None:
    a, b = matrices(dtype, 301, "cancelling")
    result = split_sum(a, b, 16, dtype)
    assert bool(wrong_elements(result, expect(MATMUL, (a, b))[0]).any())


def test_tf32_is_refused_where_fp32_is_asked_for() -> None:
    a, b = matrices(torch.float32, 301)
    cut = [(t.view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (a, b)]
    assert bool(wrong_elements(cut[0] @ cut[1], expect(MATMUL, (a, b))[0]).any())


@pytest.mark.parametrize("told", [None, torch.int32])
def test_the_dtype_of_the_only_result_is_that_of_the_exercise_or_of_its_first_argument(
    told: torch.dtype | None,
) -> None:
    count = make_exercise(lambda a, b: a + b, dtype=told)
    a = torch.tensor([1, 2], dtype=torch.int64)
    assert expect(count, (a, a))[0].dtype == (told or torch.int64)


def test_infinities_nan_and_overflow_compare_as_values() -> None:
    add = make_exercise(lambda a, b: a + b)
    a = torch.tensor([float("inf"), float("nan"), 60000.0, -0.0], dtype=torch.float16)
    (expectation,) = expect(add, (a, a))
    assert not bool(wrong_elements(a + a, expectation).any())
    swapped = torch.tensor([-float("inf"), 0.0, 1.0, 0.0], dtype=torch.float16)
    assert wrong_elements(swapped, expectation).tolist() == [True, True, True, False]


def test_nan_may_be_zero_where_the_contract_says_so() -> None:
    relu = make_exercise(lambda a: a.clamp(min=0), nan_may_be=(0.0,))
    a = torch.tensor([float("nan"), 1.0])
    (expectation,) = expect(relu, (a,))
    assert not bool(wrong_elements(torch.tensor([0.0, 1.0]), expectation).any())
    assert wrong_elements(torch.tensor([2.0, 1.0]), expectation).tolist() == [True, False]


def test_exact_exercises_compare_bits() -> None:
    copy = make_exercise(lambda a: a, exact=True)
    a = torch.tensor([0.0, float("nan"), 1.0])
    (expectation,) = expect(copy, (a,))
    assert not bool(wrong_elements(a.clone(), expectation).any())
    assert wrong_elements(torch.tensor([-0.0, float("nan"), 1.0]), expectation)[0]
