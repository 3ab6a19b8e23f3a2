"""What failing cases have in common: a size, or a stride of another tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

import pytest
import torch

from graders.judge.cases.compare import expect
from graders.judge.diagnosis.factors import LANES, separating
from graders.judge.diagnosis.failures import Failure, SeenCase
from graders.judge.diagnosis.generic import FindingText
from graders.judge.records import Case, Evidence, Fault, LaunchFacts
from tests.support.failing_cases import ADD

SIZES = (1, 7, 33, 64, 100, 128, 129, 192, 500, 1000, 1024)
NUMBERS = count()
(EXPECTED,) = expect(ADD, (torch.ones(1), torch.ones(1)))


def case(
    args: Sequence[Any],
    meta: Mapping[str, Any],
    failed: bool,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> SeenCase:
    launch = LaunchFacts("kernel", (1,), meta, given=given)
    return SeenCase(Case(f"case {next(NUMBERS)}", ()), tuple(args), EXPECTED, (launch,), failed)


def told(cases: Sequence[SeenCase], *parameters: str) -> dict[str, FindingText]:
    found = separating(cases, parameters or ("x", "n_bins"), ())
    return {hypothesis.code: hypothesis.text for hypothesis in found}


def rows(fails: Callable[[int], bool], block: int = 64) -> list[SeenCase]:
    return [case((torch.empty(3, n), 20), {"BLOCK_SIZE": block}, fails(n)) for n in SIZES]


def test_more_than_one_block() -> None:
    text = told(rows(lambda n: n > 64))["second-block-wrong"]
    assert "`x.shape[1]` is larger than `BLOCK_SIZE` (64)" in text.message
    assert "all 7 failing cases are like that, and the 4 other cases are correct" in text.message


def test_a_block_that_is_not_full() -> None:
    text = told(rows(lambda n: n % 64 != 0))["part-of-block-wrong"]
    assert "`x.shape[1]` is not a multiple of `BLOCK_SIZE` (64)" in text.message


def test_a_block_that_is_no_argument_of_the_kernel() -> None:
    seen = [case((torch.empty(3, n),), {}, n > 64) for n in SIZES]
    assert "is larger than 64" in told(seen)["second-block-wrong"].message


def test_a_number_is_a_size_too() -> None:
    seen = [case((torch.empty(5), n), {"BINS": 64}, n > 64) for n in SIZES]
    assert "`n_bins` is larger than `BINS` (64)" in told(seen)["second-block-wrong"].message


def test_blocks_that_change_with_the_case_have_no_number() -> None:
    seen = [
        case((torch.empty(3, n), 20), {"BLOCK_SIZE": block}, n > block)
        for n in SIZES
        for block in (16, 64)
    ]
    assert "is larger than `BLOCK_SIZE`:" in told(seen)["second-block-wrong"].message


def test_some_cases_may_be_right_by_chance() -> None:
    assert "second-block-wrong" in told(rows(lambda n: n > 64 and n != 1000))


@pytest.mark.parametrize(
    "fails",
    [
        pytest.param(lambda n: True, id="all fail"),
        pytest.param(lambda n: n in (33, 129), id="too few fail"),
        pytest.param(lambda n: n > 64 or n == 7, id="one fails that should not"),
        pytest.param(lambda n: n in (100, 129, 1000), id="most that should fail are right"),
    ],
)
def test_sizes_that_say_nothing(fails: Callable[[int], bool]) -> None:
    assert told(rows(fails)) == {}


def test_no_cases_say_nothing() -> None:
    assert told([]) == {}


STEPS = ((1, 1), (2, 1), (1, 2), (3, 3), (24, 1), (1, 3), (2, 2), (1, 4))  # of x, of the bias


def strided(step_x: int, step_bias: int, *, failed: bool, **given: int) -> SeenCase:
    x = torch.empty(5000).as_strided((8, 20), (20 * step_x, step_x))
    bias = torch.empty(5000).as_strided((20,), (step_bias,))
    named = {"stride_m": 20 * step_x, "stride_n": step_x, **given}
    return case((x, bias), {}, failed, named)


def strides(cases: Sequence[SeenCase]) -> FindingText | None:
    return told(cases, "x", "bias").get("stride-of-another")


def test_the_bias_read_with_the_stride_of_x() -> None:
    text = strides([strided(a, b, failed=a != b, stride_b=a) for a, b in STEPS])
    assert text is not None
    assert "No parameter of the kernel gets `bias.stride(0)`" in text.message
    assert "`stride_n` and `stride_b` are `x.stride(1)`" in text.message
    assert "use it for `bias` alone" in text.next_step


def test_strides_do_not_explain_a_case_with_masked_off_lanes_in_its_result() -> None:
    cases = [strided(a, b, failed=a != b, stride_b=a) for a, b in STEPS]
    lanes = Fault(LANES, "Masked-off lanes are part of the result.")
    failures = [
        Failure(
            one.case,
            "wrong-values",
            Evidence((), EXPECTED.values, None, None, found),
            EXPECTED,
            None,
        )
        for one, found in zip(cases, ((), (lanes,), ()), strict=False)
    ]
    (found,) = separating(cases, ("x", "bias"), failures)
    assert (found.code, found.matches) == ("stride-of-another", {0, 2})


def test_a_stride_that_arrives_is_not_missing() -> None:
    assert strides([strided(a, b, failed=a != b, stride_b=b) for a, b in STEPS]) is None


def test_a_bias_taken_to_be_dense_is_another_mistake() -> None:
    assert strides([strided(a, b, failed=b != 1, stride_b=a) for a, b in STEPS]) is None


def test_where_both_explain_the_cases_it_is_taken_to_be_dense() -> None:
    steps = [(1, step) for _, step in STEPS] + [(5, 6), (7, 8)]  # x is dense where it matters
    cases = [strided(a, b, failed=b != 1, stride_b=a) for a, b in steps]
    assert strides(cases) is None
    assert strides([*cases, strided(5, 5, failed=False, stride_b=5)])


def test_few_cases_say_nothing() -> None:
    assert strides([strided(a, b, failed=a != b, stride_b=a) for a, b in STEPS[:3]]) is None
