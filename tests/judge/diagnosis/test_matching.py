"""What shows a mistake: a wrong result in any of its forms, told from the right one."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.judge.cases.compare import Expectation
from graders.judge.diagnosis import matching
from graders.judge.diagnosis.matching import looks_like, shows, would_fail
from graders.judge.diagnosis.ranking import Sign
from graders.judge.records import Evidence, ExpectedWrong, Fault, LaunchFacts, Misconception

X = torch.arange(1.0, 41.0)
RACE = Fault("write-race", "Two programs store to one element.")


def evidence(actual: torch.Tensor, *faults: Fault) -> Evidence:
    """The evidence of a case whose right result is 2 x."""
    return Evidence((X,), 2.0 * X.double(), actual, None, faults)


def mistake(*expected: ExpectedWrong, **more: object) -> Misconception:
    return Misconception("code", "title", "message", "next", expected, **more)  # type: ignore[arg-type]


def right(x: torch.Tensor) -> Expectation:
    return Expectation(2.0 * x.double(), 4e-6 * x.double(), x.dtype, False, False, ())


def first_block_again(block: int, x: torch.Tensor) -> torch.Tensor | None:
    return 2.0 * x[torch.arange(x.numel()) % block] if block < x.numel() else None


def test_any_form_and_any_block_size_shows_the_mistake() -> None:
    forms = mistake(ExpectedWrong(lambda x: [x, 3.0 * x]))
    assert shows(forms, evidence(3.0 * X))
    assert not shows(forms, evidence(4.0 * X))
    by_block = mistake(ExpectedWrong(first_block_again, blocks=(4, 8, 16)))
    stuck = first_block_again(16, X)
    assert stuck is not None
    assert shows(by_block, evidence(stuck))


def test_a_right_output_shows_no_mistake_that_computes_the_same_here() -> None:
    assert not shows(mistake(ExpectedWrong(lambda x: 2.0 * x)), evidence(2.0 * X))


def test_the_strides_are_there_where_they_are_asked_for() -> None:
    view = torch.arange(80.0)[::2]
    found = Evidence((view,), 2.0 * view.double(), torch.arange(40.0) * 2, None)
    dense = ExpectedWrong(lambda x: 2.0 * x.as_strided(x.shape, (1,)).double(), in_memory=True)
    assert shows(mistake(dense), found)


def test_what_is_unknown_or_not_finite_is_not_compared() -> None:
    half = torch.where(X < 20, 3.0 * X, torch.nan)
    assert looks_like(evidence(3.0 * X), half.double())
    assert not looks_like(evidence(3.0 * X), torch.full_like(X, torch.nan))
    assert not shows(mistake(ExpectedWrong(lambda x: 3.0 * x)), evidence(half))
    assert shows(mistake(ExpectedWrong(lambda x: 3.0 * x, where_finite=True)), evidence(half))


def test_a_fault_that_explains_the_same_silences_a_wrong_result() -> None:
    quiet = mistake(ExpectedWrong(lambda x: 3.0 * x, unless=frozenset({RACE.code})))
    assert shows(quiet, evidence(3.0 * X))
    assert not shows(quiet, evidence(3.0 * X, RACE))


def test_a_mistake_of_several_programs_is_not_seen_with_one() -> None:
    quiet = mistake(ExpectedWrong(lambda x: 3.0 * x, unless=frozenset({matching.ONE_PROGRAM})))
    for grid, sign in (((1, 1), None), ((2,), Sign.RESULT)):
        seen = replace(evidence(3.0 * X), launches=(LaunchFacts("kernel", grid, {}),))
        assert shows(quiet, seen) is sign


def test_a_mistake_in_small_elements_is_told_where_the_slack_is_known() -> None:
    expected = torch.tensor([2000.0, 0.002, 0.004], dtype=torch.float64)
    wrong = expected + torch.tensor([0.0, 1e-4, 1e-4], dtype=torch.float64)
    found = Evidence((expected,), expected, wrong.float(), None)
    assert not looks_like(found, wrong)
    assert looks_like(found, wrong, 4e-6 * expected)


ODD = [0.0, 1.0, -1.0, 1.00001, 1.0004, 300.0, 7e4, torch.inf, -torch.inf, torch.nan]


@settings(max_examples=200, deadline=None)
@given(data=st.data(), dtype=st.sampled_from([torch.float32, torch.float16, torch.int32]))
def test_the_quick_look_leaves_out_nothing_that_agrees(
    data: st.DataObject, dtype: torch.dtype
) -> None:
    size = data.draw(st.sampled_from([1, 3, 1100]))
    values = st.sampled_from(ODD if dtype.is_floating_point else [0.0, 1.0, 5.0])

    def tensor() -> torch.Tensor:
        few = data.draw(st.lists(values, min_size=1, max_size=4))
        return torch.tensor(few, dtype=torch.float64).repeat(size)[:size]

    actual, wrong, slack = tensor().to(dtype), tensor(), data.draw(st.sampled_from([None, 1e-3]))
    room = None if slack is None else torch.full((size,), slack, dtype=torch.float64)
    known = ~wrong.isnan()
    agreeing = known.any() and any(
        matching._agrees(actual, wrong, known, one)
        for one in matching._rooms(actual.dtype, wrong, room)
    )
    assert not (agreeing and matching._far_off(actual, wrong, room))


@pytest.mark.parametrize(
    ("misconception", "refuted"),
    [
        (mistake(ExpectedWrong(lambda x: 3.0 * x)), True),
        (mistake(ExpectedWrong(lambda x: [3.0 * x, 2.0 * x])), False),
        (mistake(ExpectedWrong(lambda x: 3.0 * x), ExpectedWrong(lambda x: None)), False),
        (mistake(ExpectedWrong(first_block_again, blocks=(4, 8))), True),
        (mistake(ExpectedWrong(first_block_again, blocks=(4, 64))), False),
        (mistake(faults=frozenset({"write-race"})), False),
        (mistake(ExpectedWrong(lambda x: 3.0 * x), detector=lambda _: False), False),
    ],
)
def test_a_right_output_refutes_only_what_would_be_wrong_in_every_form(
    misconception: Misconception, refuted: bool
) -> None:
    assert would_fail(misconception, (X,), right(X)) is refuted


def test_of_several_results_a_mistake_is_compared_with_its_own() -> None:
    def both(x: torch.Tensor) -> list[tuple[torch.Tensor | None, ...]]:
        return [(3.0 * x, None), (None, 5.0 * x)]

    first = evidence(3.0 * X)
    assert shows(mistake(ExpectedWrong(both)), first)
    assert not shows(mistake(ExpectedWrong(both)), evidence(5.0 * X))
    assert not shows(mistake(ExpectedWrong(both)), replace(first, result=1))
    assert shows(mistake(ExpectedWrong(both)), replace(evidence(5.0 * X), result=1))
    assert would_fail(mistake(ExpectedWrong(both)), (X,), replace(right(X), result=1))
