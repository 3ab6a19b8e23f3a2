"""Find the misconceptions that match each failing case."""

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

MOST = 0.4  # of the failing cases of a dtype, for a mistake that shows everywhere
THOROUGH = 16  # failing cases, without tiny ones, that are tested for every misconception
FEWEST = 4  # cases that a misconception must explain to be tested before the others
ODD = 0.05  # of the failing cases: fewer may match a mistake by chance,
MOST_UNEXPLAINED = 0.6  # if so many of them match none
FORETOLD = 10_000  # elements: larger passed cases are not tested again


def candidates(
    exercise: Exercise, failures: Sequence[Failure]
) -> list[tuple[Failure, list[Misconception]]]:
    """The misconceptions that match each failing case.

    In a case of a few elements nearly every mistake looks alike. Ignore matches that are seen only
    in such cases, unless there are no others or the engine itself saw the fault.
    """
    named = _without_strays(_asked(exercise, failures))
    return _not_denied(_ruled(_without_odd(_without_tiny(named))))


def _without_tiny(
    named: list[tuple[Failure, list[Misconception]]],
) -> list[tuple[Failure, list[Misconception]]]:
    """Drop matches that are seen only in cases of a few elements, if there are larger cases."""
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
    """Drop matches in few failing cases, if most of the failing cases match nothing at all.

    Among many cases some match another mistake by chance. What the engine saw is not chance.
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
    """Drop mistakes of all programs if another case has gaps that they do not explain."""
    asked = {m.code: m for _, found in named for m in found if m.in_all_gaps}
    gaps = [failure for failure, _ in named if not failure.tiny and _has_gaps(failure)]
    denied = {
        m.code
        for m in asked.values()
        if any(not shows(m, f.evidence, f.expectation.slack) for f in gaps)
    }
    return [(failure, [m for m in found if m.code not in denied]) for failure, found in named]


def _has_gaps(failure: Failure) -> bool:
    """Whether several programs finished, and elements were never stored."""
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
    """The misconceptions that match each failing case.

    A learner waits for the answer, so not every case is tested for every misconception. None is
    skipped that could explain more cases than those that are found. Tiny cases come last, and are
    only tested for what larger cases match.
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
    """The misconceptions that match these cases, by the id of the case.

    Once a misconception has explained enough cases, the next cases are tested for those seen so
    far. Only a case that does not match it is tested for all of them.
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
    """Drop rounding mistakes that few of a dtype's failing cases show: the cause is another one."""
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
    """The candidates that predict a wrong result where the submission had a correct one.

    Only candidates that explain equally many failing cases are tested; nothing else depends on it.
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
