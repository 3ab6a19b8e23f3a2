"""Decide whether an output shows a mistake, by wrong results, engine faults and other marks."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from graders.judge.cases.compare import (
    DEFAULTS,
    Expectation,
    every,
    sparse,
    widened,
    wrong_elements,
)
from graders.judge.diagnosis.ranking import Sign
from graders.judge.records import Evidence, ExpectedWrong, Misconception

LEAST_TOLERANCE = 1e-5  # relative; of float32 some dozens of roundings, far below any mistake
ONE_PROGRAM = "one-program"  # true of a case in which each launch had a single program
FURTHER_ROUNDINGS = 4  # of the mistake's own computation, besides those of the correct result


def shows(
    misconception: Misconception, evidence: Evidence, slack: torch.Tensor | None = None
) -> Sign | None:
    """Return how a misconception shows in a failing case, or None.

    `slack` is how far a correct output may be off, element by element (None: not at all).
    """
    seen = {fault.code for fault in evidence.faults}
    named = seen | {f"{fault.code}:{fault.argument}" for fault in evidence.faults}
    if misconception.faults & named:
        return Sign.FAULT
    # A record may not have considered every shape. That is not the learner's fault, so an error in
    # the record only means that it does not match.
    with contextlib.suppress(Exception):
        if misconception.detector is not None and misconception.detector(evidence):
            return Sign.MARKS
    if evidence.actual is None:
        return None
    if evidence.launches and all(math.prod(launch.grid) == 1 for launch in evidence.launches):
        seen.add(ONE_PROGRAM)
    equal = any(
        _equals_one(expected, evidence, slack)
        for expected in misconception.expected_wrong
        if not expected.unless & seen
    )
    return Sign.RESULT if equal else None


def _equals_one(expected: ExpectedWrong, evidence: Evidence, slack: torch.Tensor | None) -> bool:
    actual = evidence.actual
    assert actual is not None
    with contextlib.suppress(Exception):
        for results in wrong_results(expected, evidence.args, evidence.result):
            for wrong in results:
                if expected.where_finite and wrong.shape == actual.shape:
                    wrong = wrong.masked_fill(actual.isnan(), float("nan"))
                if looks_like(evidence, wrong, slack):
                    return True
    return False


def would_fail(misconception: Misconception, args: tuple[Any, ...], right: Expectation) -> bool:
    """Return whether the mistake gives a wrong result for these arguments, in each of its forms.

    Only then does a correct output speak against it. The answer is False if one form would not
    show, if the mistake's result is unknown, or if a detector may have seen yet another form.
    """
    if not misconception.expected_wrong or misconception.detector is not None:
        return False
    with contextlib.suppress(Exception):
        return all(
            bool(results) and all(differs(wrong, right) for wrong in results)
            for expected in misconception.expected_wrong
            for results in wrong_results(expected, args, right.result)
        )
    return False


def wrong_results(
    expected: ExpectedWrong, args: tuple[Any, ...], result: int = 0
) -> Iterator[list[torch.Tensor]]:
    """Yield what the mistake computes, in its forms: once, or for each block size.

    If there are several results, yield the mistake's version of number `result`.
    """
    given = args if expected.in_memory else widened(args)
    prefixes: list[tuple[int, ...]] = [(block,) for block in expected.blocks] or [()]
    for prefix in prefixes:
        found = expected.function(*prefix, *given)
        forms = found if isinstance(found, list) else [found]
        mine = (form[result] if isinstance(form, tuple) else form for form in forms)
        yield [wrong for wrong in mine if wrong is not None]


def differs(wrong: torch.Tensor, right: Expectation) -> bool:
    """Return whether the judge would refuse a wrong result, where its elements are known.

    False if the shapes do not agree, because then they cannot be compared.
    """
    if tuple(wrong.shape) != right.shape:
        return False
    output = wrong if right.any_integer else wrong.to(right.dtype)
    return bool((wrong_elements(output, right) & _known(wrong)).any())


def looks_like(evidence: Evidence, wrong: torch.Tensor, slack: torch.Tensor | None = None) -> bool:
    """Return whether the output is this wrong result, and the wrong result is not the correct one.

    Both comparisons use the same tolerance. A coarse one comes first. If `slack` says how far a
    correct output may be off, a fine one follows, which recognises mistakes that hardly show. NaN
    in the wrong result matches any value; if it has only NaN there is no match.
    """
    actual = evidence.actual
    if actual is None or wrong.shape != actual.shape or _far_off(actual, wrong, slack):
        return False
    known = _known(wrong)
    if not known.any():
        return False
    right = evidence.expected.to(actual.dtype)
    return any(
        _agrees(actual, wrong, known, room) and not _agrees(right, wrong, known, room)
        for room in _rooms(actual.dtype, wrong, slack)
    )


def _far_off(actual: torch.Tensor, wrong: torch.Tensor, slack: torch.Tensor | None) -> bool:
    """Whether a few elements show that the output is not this wrong result.

    Most outputs are completely different, and a learner waits for all comparisons. This one uses
    the tolerances of `_rooms` all at once.
    """
    if not actual.numel():
        return False
    step, dtype = sparse(actual), actual.dtype
    few = every(wrong, step)
    got = every(actual, step).double()
    want = (few.to(dtype) if dtype.is_floating_point else few).double()
    share, more = 0.0, 0.999  # of integers
    if dtype.is_floating_point:
        share = max(_coarse(dtype), _fine(dtype))
        more = _coarse(dtype) * _largest(wrong)
    room = few.double().abs().nan_to_num_(nan=0.0, posinf=0.0).mul_(share).add_(more)
    if slack is not None:
        room += every(slack, step)
    near = (got == want) | ((got - want).abs_() <= room) | few.isnan()
    return not bool(near.all())


def _coarse(dtype: torch.dtype) -> float:
    """The coarse tolerance, as a share of an element and of the largest one."""
    return max(2 * torch.finfo(dtype).eps, LEAST_TOLERANCE)


def _fine(dtype: torch.dtype) -> float:
    """The fine tolerance, as a share of an element, besides the slack."""
    return FURTHER_ROUNDINGS * DEFAULTS[dtype].rel if dtype in DEFAULTS else 0.0


def _largest(wrong: torch.Tensor) -> float:
    """The largest finite absolute value."""
    wide = wrong.double()
    least, most = (float(bound) for bound in torch.aminmax(wide))
    if math.isfinite(least) and math.isfinite(most):
        return max(-least, most)
    return float(wide.abs().nan_to_num_(nan=0.0, posinf=0.0).amax())


@dataclass(frozen=True)
class _Room:
    """The tolerance around a wrong result: a share of each element, plus `more` and `slack`."""

    share: float
    more: float = 0.0
    slack: torch.Tensor | None = None

    def at(self, wrong: torch.Tensor, step: int) -> torch.Tensor:
        """The tolerance of every step-th element; `wrong` has only those elements."""
        room = self.share * wrong.double().abs().nan_to_num(nan=0.0, posinf=0.0) + self.more
        return room if self.slack is None else room + every(self.slack, step)


def _rooms(dtype: torch.dtype, wrong: torch.Tensor, slack: torch.Tensor | None) -> Iterator[_Room]:
    """Yield the tolerances of the coarse comparison, then of the fine one.

    Many mistakes give only zeros, so such a result gets no coarse comparison.
    """
    largest = _largest(wrong)
    if not dtype.is_floating_point:
        if largest:  # a fraction may have been rounded either way
            yield _Room(0.0, 0.999 if wrong.is_floating_point() else 0.0)
    elif largest:
        tolerance = _coarse(dtype)
        yield _Room(tolerance, tolerance * largest)
    if slack is not None:
        yield _Room(_fine(dtype), slack=slack)


def _agrees(output: torch.Tensor, wrong: torch.Tensor, known: torch.Tensor, room: _Room) -> bool:
    """Whether the output is the wrong result where that is known, within `room`."""
    step = sparse(output)  # most outputs are completely different, and a few elements show it
    for n in (step, 1) if step > 1 else (1,):
        theirs = every(wrong, n)
        if not bool(_near(every(output, n), theirs, room.at(theirs, n))[every(known, n)].all()):
            return False
    return True


def close(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Return where two results agree up to a few roundings of the dtype of `actual`."""
    size = expected.double().abs().nan_to_num(nan=0.0, posinf=0.0)
    largest = float(size.amax()) if size.numel() else 0.0
    return _near(actual, expected, _coarse(actual.dtype) * (size + largest))


def _near(output: torch.Tensor, wrong: torch.Tensor, room: torch.Tensor) -> torch.Tensor:
    if not output.is_floating_point() and not wrong.is_floating_point():
        return (output == wrong) | ((output.double() - wrong.double()).abs() <= room)
    rounded = wrong.to(output.dtype) if output.is_floating_point() else wrong
    got, want = output.double(), rounded.double()
    return (got == want) | ((got - want).abs() <= room)


def _known(wrong: torch.Tensor) -> torch.Tensor:
    """Where a wrong result has a definite value."""
    if wrong.is_floating_point():
        return ~wrong.isnan()
    return torch.ones(wrong.shape, dtype=torch.bool)
