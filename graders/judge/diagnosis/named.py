"""Which failing cases the misconceptions of an exercise explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod

from graders.judge.diagnosis.failures import Failure, SeenCase
from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.matching import shows, would_fail
from graders.judge.diagnosis.ranking import Hypothesis, Sign
from graders.judge.records import Exercise, Misconception

FIRST, THOROUGH = 4, 16  # failing cases that are tested for every misconception
MOST_ROUNDED = 0.4  # of the failing cases of a dtype show a mistake of rounding
ODD = 0.05  # of the failing cases: fewer may match a mistake by chance
FORETOLD = 10_000  # elements: larger passed cases are not tested again

Signs = dict[str, dict[int, Sign]]
"""How each misconception shows, by its code and the number of the failing case."""


def named_mistakes(
    exercise: Exercise, failures: Sequence[Failure], passed: Sequence[SeenCase]
) -> list[Hypothesis]:
    """A hypothesis for each misconception that explains failing cases, in the record's order."""
    signs = _signs(exercise.misconceptions, failures)
    known = {m.code: m for m in exercise.misconceptions if signs.get(m.code)}
    for code in [m.code for m in known.values() if _is_rare(m, signs[m.code], failures)]:
        del known[code]
    matches = _taken_over(known, {code: frozenset(signs[code]) for code in known})
    equal = Counter(map(len, matches.values()))
    return [
        Hypothesis(
            code,
            FindingText(m.title, m.message, m.next_step),
            matches[code],
            sign=min(signs[code].values()),
            denied=equal[len(matches[code])] > 1 and _is_denied(m, passed),
            places=m.places,
            rounding=m.everywhere,
            faults=m.faults,
        )
        for code, m in known.items()
        if code in matches and not (m.in_all_gaps and _leaves_gaps(m, failures))
    ]


def _signs(misconceptions: Sequence[Misconception], failures: Sequence[Failure]) -> Signs:
    """How the misconceptions show in the failing cases.

    A learner waits for the answer. So all misconceptions are tested in the first cases, and later
    only where those that have shown explain nothing. In tiny cases most mistakes look alike.
    """
    found: Signs = {}
    ordered = sorted(enumerate(failures), key=lambda pair: pair[1].tiny)
    large = any(not failure.tiny for failure in failures)
    for place, (number, failure) in enumerate(ordered):
        small = failure.tiny and large
        seen = [m for m in misconceptions if m.code in found or m.faults or m.rules_out]
        new = _showing(misconceptions if place < FIRST and not small else seen, failure)
        if not new and place < THOROUGH and not small:
            new = _showing(misconceptions, failure)
        for code, sign in new.items():
            found.setdefault(code, {})[number] = sign
    return found


def _showing(misconceptions: Sequence[Misconception], failure: Failure) -> Mapping[str, Sign]:
    if failure.difference is not None:
        return {}
    slack, result = failure.expectation.slack, failure.expectation.result
    fitting = [m for m in misconceptions if m.result in (None, result)]
    signs = ((m.code, shows(m, failure.evidence, slack)) for m in fitting)
    return {code: sign for code, sign in signs if sign is not None}


def _is_rare(m: Misconception, signs: Mapping[int, Sign], failures: Sequence[Failure]) -> bool:
    """Whether so few cases show the misconception that it is a coincidence.

    A mistake of rounding shows in most failing cases of a dtype, or another one is the cause.
    """
    if not m.everywhere:
        return len(signs) < ODD * len(failures)
    dtypes = {failures[number].expectation.dtype for number in signs}
    return len(signs) < MOST_ROUNDED * sum(f.expectation.dtype in dtypes for f in failures)


def _taken_over(
    known: Mapping[str, Misconception], matches: Mapping[str, frozenset[int]]
) -> dict[str, frozenset[int]]:
    """The matches, with those of each misconception that follows from another added to it."""
    causes = {code: m.code for m in known.values() for code in m.rules_out if code in known}
    taken: dict[str, frozenset[int]] = {}
    for code, own in matches.items():
        cause = causes.get(code, code)
        taken[cause] = taken.get(cause, frozenset()) | own
    return taken


def _is_denied(m: Misconception, passed: Sequence[SeenCase]) -> bool:
    """Whether the misconception predicts a wrong result in a case that passed."""
    small = (case for case in passed if 0 < case.expectation.values.numel() <= FORETOLD)
    fitting = (case for case in small if m.result in (None, case.expectation.result))
    return any(would_fail(m, case.args, case.expectation) for case in fitting)


def _leaves_gaps(m: Misconception, failures: Sequence[Failure]) -> bool:
    """Whether a case has gaps that this mistake of all programs does not explain."""
    gaps = [failure for failure in failures if not failure.tiny and _has_gaps(failure)]
    return any(shows(m, f.evidence, f.expectation.slack) is None for f in gaps)


def _has_gaps(failure: Failure) -> bool:
    """Whether several programs finished, and elements were never stored."""
    evidence, never = failure.evidence, failure.evidence.never_stored
    if never is None or failure.wrong is None or not evidence.launches:
        return False
    return prod(evidence.launches[-1].grid) > 1 and bool((never & failure.wrong).any())
