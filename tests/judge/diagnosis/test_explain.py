"""From failing cases to findings: patterns, votes and pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from graders.judge.cases.compare import expect
from graders.judge.diagnosis import matching, named
from graders.judge.diagnosis.explain import explain, finding
from graders.judge.diagnosis.failures import Failure, Seen, SeenCase
from graders.judge.diagnosis.ranking import Sign
from graders.judge.records import Exercise, ExpectedWrong, Fault, Misconception
from tests.support.failing_cases import ADD, SUBTRACTS, UNMASKED, fail, poisoned, stored
from triton_util.report import Finding

TWICE = ExpectedWrong(lambda x, y: x + 2 * y)


def findings(
    failures: Sequence[Failure],
    exercise: Exercise = ADD,
    passed: Sequence[SeenCase] = (),
    source: str = "",
) -> list[Finding]:
    causes = explain(exercise, Seen(failures, passed, source))
    return [finding("interpret", exercise, cause) for cause in causes]


def codes(*failures: Failure) -> list[str]:
    return [found.code for found in findings(failures)]


def test_a_mistake_is_named_by_what_it_computes() -> None:
    assert codes(fail(lambda x, y: x - y)) == ["subtracts"]


def test_a_mistake_is_named_by_its_fault() -> None:
    fault = Fault("out-of-bounds-store", "8 of 16 lanes are outside.", line=7)
    (finding,) = findings([fail(None, faults=(fault,), status="raised")])
    assert finding.code == "missing-mask"
    assert finding.line == 7
    assert "8 of 16 lanes" in finding.message


def test_an_error_in_a_kernel_says_what_to_do() -> None:
    error = Fault("kernel-error", "The grid is no tuple.", cause="Write (n,).")
    failed = replace(fail(None, faults=(error,), status="raised"), error=error)
    (finding,) = findings([failed])
    assert finding.next_step == "Write (n,)."


def test_a_launcher_that_asks_for_a_gpu_is_told_where_to_allocate() -> None:
    error = Fault("exception", "AssertionError: Torch not compiled with CUDA enabled")
    failed = replace(fail(None, faults=(error,), status="raised"), error=error)
    (finding,) = findings([failed])
    assert "torch.empty_like(x)" in finding.next_step


PATTERNS = [
    ("first-block-only", (40,), slice(0, 16)),
    ("last-block-only", (40,), slice(24, 40)),
    ("never-stored", (40,), slice(8, 16)),
    ("first-row-only", (6, 8), 0),
    ("nothing-stored", (40,), slice(0, 0)),
]


@pytest.mark.parametrize(("code", "shape", "which"), PATTERNS, ids=[p[0] for p in PATTERNS])
def test_what_was_stored_tells_the_pattern(code: str, shape: tuple[int, ...], which: Any) -> None:
    never = stored(shape, which)
    assert codes(fail(poisoned(never), shape, never)) == [code]


RESULTS = [
    ("all-zeros", (40,), lambda x, y: torch.zeros_like(x)),
    ("input-returned", (40,), lambda x, y: y.clone()),
    ("shifted-by-one", (40,), lambda x, y: torch.roll(x + y, 1)),
    ("transposed-result", (6, 6), lambda x, y: (x + y).T.contiguous()),
    ("nan-result", (40,), lambda x, y: torch.sqrt(x + y)),
    ("constant-factor", (40,), lambda x, y: (x + y) / 7),
    ("constant-offset", (40,), lambda x, y: x + y + 3),
    ("signs-differ", (40,), lambda x, y: (x + y).abs()),
    ("right-values-elsewhere", (6, 8), lambda x, y: (x + y).flip(0)),
    ("nothing-written", (40,), lambda x, y: torch.full_like(x, float("nan"))),
    ("offsets-stored", (40,), lambda x, y: torch.arange(40.0)),
    ("nearly-right", (40,), lambda x, y: (x + y).to(torch.float16).float()),
    ("wrong-values", (40,), lambda x, y: x + 2 * y),
]


@pytest.mark.parametrize(("code", "shape", "actual"), RESULTS, ids=[r[0] for r in RESULTS])
def test_the_values_tell_the_pattern(code: str, shape: tuple[int, ...], actual: Any) -> None:
    assert codes(fail(actual, shape)) == [code]


def test_the_shape_of_a_wrong_result_is_a_symptom_of_the_mistake_that_has_a_name() -> None:
    odd = fail(lambda x, y: torch.zeros_like(x))
    usual = [fail(lambda x, y: x - y, (size,)) for size in (40, 41, 42)]
    assert codes(odd, *usual) == ["subtracts"]


def test_of_two_mistakes_in_placing_the_first_is_the_cause() -> None:
    def left(code: str, size: int) -> Failure:
        return fail(None, (size,), faults=(Fault(code, "said"),), status="raised")

    masks = replace(UNMASKED, places=True)
    gaps = replace(masks, code="contiguous-assumed", faults=frozenset({"gap-read"}))
    exercise = replace(ADD, misconceptions=(masks, gaps))
    failures = [left("out-of-bounds-store", n) for n in (40, 41, 42)]
    failures += [left("gap-read", n) for n in (43, 44)]
    told = [found.code for found in findings(failures, exercise)]
    assert told == ["missing-mask"]
    loose = replace(ADD, misconceptions=(UNMASKED, replace(gaps, places=False)))
    assert len(findings(failures, loose)) == 2
    assert len(findings(failures[:-1], loose)) == 1  # one odd case tells no mistake


def test_numbers_that_look_alike_are_shown_in_every_digit() -> None:
    close = replace(fail(lambda x, y: (x + y) * (1 + 2e-7)), wrong=torch.ones(40, dtype=torch.bool))
    found = findings([close])
    shown = re.search(r"got (\S+), expected (\S+)\.", found[0].message)
    assert shown is not None, found[0].message
    assert shown[1] != shown[2]
    assert len(shown[2]) > 8


def test_a_case_of_an_element_or_two_tells_no_mistake_that_the_others_do_not() -> None:
    tiny = fail(lambda x, y: x - y, (1,))
    usual = fail(lambda x, y: x + 2 * y)
    assert codes(tiny, usual) == ["wrong-values"]
    assert codes(tiny) == ["subtracts"]


def test_a_mistake_of_few_cases_stands_behind_what_most_of_them_show() -> None:
    named = [fail(lambda x, y: x - y, (size,)) for size in (38, 39)]
    usual = [fail(lambda x, y: torch.zeros_like(x), (size,)) for size in range(40, 48)]
    assert codes(*named, *usual) == ["all-zeros", "subtracts"]
    assert codes(named[0], *usual[:4]) == ["all-zeros"]  # one odd case tells no mistake


def test_what_accounts_for_four_cases_is_asked_about_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def shows(misconception: Misconception, *more: Any) -> Sign | None:
        asked.append(misconception.code)
        return matching.shows(misconception, *more)

    monkeypatch.setattr(named, "shows", shows)
    twice = replace(SUBTRACTS, code="adds-twice", expected_wrong=(TWICE,))
    exercise = replace(ADD, misconceptions=(SUBTRACTS, twice))
    alike = [fail(lambda x, y: x - y) for _ in range(6)]
    findings(alike, exercise)
    assert asked == ["subtracts", "adds-twice"] * 4 + ["subtracts"] * 2
    asked.clear()
    told = findings([*alike[:4], fail(lambda x, y: x + 2 * y)], exercise)
    assert asked[-3:] == ["subtracts", "subtracts", "adds-twice"]  # it does not account for that
    assert [found.code for found in told] == ["subtracts"]  # one odd case of five says little
    asked.clear()
    two = [fail(lambda x, y: x + 2 * y), fail(lambda x, y: x + 2 * y)]
    told = findings([*alike[:4], *two], exercise)
    assert [found.code for found in told] == ["subtracts", "adds-twice"]


def test_what_is_named_stands_before_what_is_only_wrong_somehow() -> None:
    named = fail(lambda x, y: x - y)
    others = [fail(lambda x, y: x * y + 0.3 * x * x, (size,)) for size in range(41, 50)]
    assert codes(*others) == ["wrong-values"]
    assert codes(*others, named) == ["subtracts"]


def test_a_rounding_is_no_second_finding() -> None:
    rounding = replace(
        SUBTRACTS,
        code="halves",
        expected_wrong=(ExpectedWrong(lambda x, y: x * y),),
        everywhere=True,
    )
    exercise = replace(ADD, misconceptions=(SUBTRACTS, rounding))
    failures = [fail(lambda x, y: x - y, (size,)) for size in (40, 41)]
    failures += [fail(lambda x, y: x * y, (size,)) for size in (42, 43)]
    assert [f.code for f in findings(failures, exercise)] == ["subtracts"]


def test_where_no_program_stored_says_little_if_elsewhere_some_did() -> None:
    nothing = stored((40,), slice(0, 0))
    empty = fail(poisoned(nothing), (40,), nothing)
    assert codes(empty) == ["nothing-stored"]
    assert codes(empty, fail(lambda x, y: x - y, (41,))) == ["subtracts"]


def test_a_mistake_that_would_have_failed_elsewhere_stands_back() -> None:
    """Both explain the fault; the first would not have passed the case that has passed."""
    fault = Fault("out-of-bounds-load", "8 of 16 lanes are outside.", line=7)
    failure = fail(None, faults=(fault,), status="raised")
    first = replace(ADD.misconceptions[0], faults=frozenset({fault.code}))
    second = replace(first, code="load-outside", expected_wrong=())
    exercise = replace(ADD, misconceptions=(first, second))
    args = (torch.randn(40), torch.randn(40))
    held = [SeenCase(failure.case, args, expect(ADD, args)[0], (), failed=False)]
    assert [f.code for f in findings([failure], exercise)] == ["subtracts"]
    assert [f.code for f in findings([failure], exercise, held)] == ["load-outside"]


def test_the_first_difference_is_said_in_numbers_and_drawn() -> None:
    never = stored((40,), slice(0, 32))
    (finding,) = findings([fail(poisoned(never), (40,), never)])
    assert (
        "8 of 40 elements are wrong; the first is [32], which no program stored" in finding.message
    )
    assert finding.picture is not None
    assert finding.picture.rows == ("." * 32, "o" * 8 + " " * 24)


def test_an_error_in_a_record_never_hides_the_failure() -> None:
    def broken(*_: Any) -> torch.Tensor:
        raise RuntimeError

    careless = Misconception(
        "careless",
        "t",
        "m",
        "n",
        expected_wrong=(ExpectedWrong(broken),),
        detector=broken,  # type: ignore[arg-type]
    )
    exercise = Exercise(**{**vars(ADD), "misconceptions": (careless,)})
    failure = fail(lambda x, y: torch.zeros_like(x))
    assert findings([failure], exercise)[0].code == "all-zeros"
