"""Which misconceptions each failing case admits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

import torch

from graders.judge.cases.compare import Expectation
from graders.judge.diagnosis.failures import Failure
from graders.judge.diagnosis.matching import shows, would_fail
from graders.judge.records import Exercise, Misconception

MOST = 0.4  # of the failing cases of a dtype, where a mistake shows everywhere
THOROUGH = 16  # failing cases, tiny ones aside, that are asked about every misconception at most
FEWEST = 4  # that one misconception accounts for, before others are asked about it first
ODD = 0.05  # of the failing cases: fewer may look like a mistake by chance,
MOST_UNEXPLAINED = 0.6  # if so many of them look like none
FORETOLD = 10_000  # elements: larger passed cases are not looked at again


def candidates(
    exercise: Exercise, failures: Sequence[Failure]
) -> list[tuple[Failure, list[Misconception]]]:
    """The misconceptions that each failing case admits.

    In a case of a few elements nearly every mistake looks alike. What only such cases admit
    is no candidate, unless there are no others or the engine itself saw the fault.
    """
    named = _without_strays(_asked(exercise, failures))
    return _not_denied(_ruled(_without_odd(_without_tiny(named))))


def _without_tiny(
    named: list[tuple[Failure, list[Misconception]]],
) -> list[tuple[Failure, list[Misconception]]]:
    """Drop what only cases of a few elements admit, if there are larger ones."""
    large = [found for failure, found in named if not failure.tiny]
    seen = {m.code for found in large for m in found}
    if not large:
        return named
    return [
        (failure, [m for m in found if m.code in seen or m.faults] if failure.tiny else found)
        for failure, found in named
    ]


def _without_odd(
    named: list[tuple[Failure, list[Misconception]]],
) -> list[tuple[Failure, list[Misconception]]]:
    """Drop what a few of the failing cases admit, where most of them admit nothing at all.

    Among many cases some look like another mistake by chance. What the engine saw is no chance.
    """
    votes = Counter(m.code for _, found in named for m in found)
    if sum(not found for _, found in named) < MOST_UNEXPLAINED * len(named):
        return named
    odd = {code for code, count in votes.items() if count < ODD * len(named)}
    return [
        (failure, [m for m in found if m.faults or m.code not in odd]) for failure, found in named
    ]


def _not_denied(
    named: list[tuple[Failure, list[Misconception]]],
) -> list[tuple[Failure, list[Misconception]]]:
    """Drop mistakes of all programs where another case has gaps that they do not explain."""
    asked = {m.code: m for _, found in named for m in found if m.in_all_gaps}
    gaps = [failure for failure, _ in named if not failure.tiny and _has_gaps(failure)]
    denied = {
        m.code
        for m in asked.values()
        if any(not shows(m, f.evidence, f.expectation.slack) for f in gaps)
    }
    return [(failure, [m for m in found if m.code not in denied]) for failure, found in named]


def _has_gaps(failure: Failure) -> bool:
    """Whether several programs ran to their end, and elements were never stored."""
    evidence, never = failure.evidence, failure.evidence.never_stored
    if never is None or failure.wrong is None or not evidence.launches:
        return False
    return prod(evidence.launches[-1].grid) > 1 and bool((never & failure.wrong).any())


def _ruled(
    named: list[tuple[Failure, list[Misconception]]],
) -> list[tuple[Failure, list[Misconception]]]:
    """Replace each misconception that another candidate rules out by that candidate."""
    rulers = {code: m for _, found in named for m in found for code in m.rules_out}
    return [
        (failure, list(dict.fromkeys(rulers.get(m.code, m) for m in found)))
        for failure, found in named
    ]


def _asked(
    exercise: Exercise, failures: Sequence[Failure]
) -> list[tuple[Failure, list[Misconception]]]:
    """What each failing case admits.

    A learner waits for the answer, so not every case is asked about every misconception: nothing
    is left out that could account for more cases than what is found. Tiny cases come last, since
    they are only heard about what others admit.
    """
    large = [failure for failure in failures if not failure.tiny]
    found = _of_large(exercise.misconceptions, large)
    seen = {m.code for admitted in found.values() for m in admitted}
    for failure in failures:
        if failure.tiny:
            known = [m for m in exercise.misconceptions if m.faults or m.code in seen]
            asked = known if large else exercise.misconceptions
            found[id(failure)] = _misconceptions(asked, failure)
    return [(failure, found[id(failure)]) for failure in failures]


def _of_large(
    misconceptions: Sequence[Misconception], failures: Sequence[Failure]
) -> dict[int, list[Misconception]]:
    """What these cases admit, by the id of each.

    Once a misconception has accounted for some, the next ones are asked about what was seen so
    far. Only one that does not admit it is asked about everything.
    """
    found: dict[int, list[Misconception]] = {}
    votes: Counter[str] = Counter()
    for number, failure in enumerate(failures):
        leading = {code for code, count in votes.items() if count >= FEWEST}
        known = [m for m in misconceptions if m.faults or m.rules_out or m.code in votes]
        short = bool(leading) or number >= THOROUGH
        admitted = _misconceptions(known if short else misconceptions, failure)
        if short and number < THOROUGH and not any(m.code in leading for m in admitted):
            admitted = _misconceptions(misconceptions, failure)
        votes.update({m.code: 0 if m.everywhere else 1 for m in admitted})
        found[id(failure)] = admitted
    return found


def _without_strays(
    named: list[tuple[Failure, list[Misconception]]],
) -> list[tuple[Failure, list[Misconception]]]:
    """Drop rounding mistakes that few of a dtype's failing cases show: it is another mistake."""
    failing = Counter(failure.expectation.dtype for failure, _ in named)
    shown = Counter((m.code, failure.expectation.dtype) for failure, found in named for m in found)

    def stands(m: Misconception, dtype: torch.dtype) -> bool:
        return not m.everywhere or shown[m.code, dtype] >= MOST * failing[dtype]

    return [
        (failure, [m for m in found if stands(m, failure.expectation.dtype)])
        for failure, found in named
    ]


def refuted(
    exercise: Exercise,
    votes: Counter[str],
    passed: Sequence[tuple[tuple[Any, ...], Expectation]],
) -> set[str]:
    """The candidates that foretell a wrong result where the submission had a right one.

    Asked only where several account for equally many failing cases: nothing else depends on it.
    """
    small = [(args, want) for args, want in passed if 0 < want.values.numel() <= FORETOLD]
    equal = Counter(votes.values())
    tied = [m for m in exercise.misconceptions if votes[m.code] and equal[votes[m.code]] > 1]
    return {
        m.code
        for m in tied
        if any(would_fail(m, args, want) for args, want in small if m.result in (None, want.result))
    }


def _misconceptions(asked: Sequence[Misconception], failure: Failure) -> list[Misconception]:
    if failure.difference is not None:
        return []
    slack, result = failure.expectation.slack, failure.expectation.result
    fitting = [m for m in asked if m.result in (None, result)]
    return [m for m in fitting if shows(m, failure.evidence, slack)]
