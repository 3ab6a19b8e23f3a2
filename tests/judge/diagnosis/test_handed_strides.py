"""A stride of another tensor, told by the cases in which the two differ."""

from __future__ import annotations

import torch

from graders.judge.diagnosis.handed_strides import CODE, stride_of_another
from graders.judge.diagnosis.sizes import SeenCase

PARAMETERS = ("x", "bias")
STEPS = ((1, 1), (2, 1), (1, 2), (3, 3), (24, 1), (1, 1), (2, 2), (1, 4))  # of x, of the bias


def seen(step_x: int, step_bias: int, *, failed: bool, **given: int) -> SeenCase:
    x = torch.empty(5000).as_strided((8, 20), (20 * step_x, step_x))
    bias = torch.empty(5000).as_strided((20,), (step_bias,))
    named = {"stride_m": 20 * step_x, "stride_n": step_x, **given}
    return SeenCase((x, bias), {}, failed, named)


def test_the_bias_read_with_the_stride_of_x() -> None:
    cases = [seen(a, b, failed=a != b, stride_b=a) for a, b in STEPS]
    told = stride_of_another(cases, PARAMETERS)
    assert told is not None
    code, text = told
    assert code == CODE
    assert "No parameter of the kernel gets `bias.stride(0)`" in text.message
    assert "`stride_n` and `stride_b` are `x.stride(1)`" in text.message


def test_a_stride_that_arrives_is_not_missing() -> None:
    cases = [seen(a, b, failed=a != b, stride_b=b) for a, b in STEPS]
    assert stride_of_another(cases, PARAMETERS) is None


def test_a_bias_taken_to_be_dense_is_another_mistake() -> None:
    cases = [seen(a, b, failed=b != 1) for a, b in STEPS]
    assert stride_of_another(cases, PARAMETERS) is None


def test_where_both_explain_the_cases_it_is_taken_to_be_dense() -> None:
    steps = [(1, step) for _, step in STEPS] + [(5, 6), (7, 8)]  # x is dense where it matters
    cases = [seen(a, b, failed=b != 1, stride_b=a) for a, b in steps]
    assert stride_of_another(cases, PARAMETERS) is None
    assert stride_of_another([*cases, seen(5, 5, failed=False, stride_b=5)], PARAMETERS) is not None


def test_few_cases_tell_nothing() -> None:
    cases = [seen(a, b, failed=a != b, stride_b=a) for a, b in STEPS[:3]]
    assert stride_of_another(cases, PARAMETERS) is None
    assert stride_of_another([], PARAMETERS) is None
