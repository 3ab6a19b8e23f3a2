"""Hypotheses about the failing cases of a submission, and the one function that ranks them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from graders.judge.diagnosis.failures import Failure
from graders.judge.diagnosis.generic import FindingText

MOST = 3  # causes that are reported
# The known wrong kernels test these numbers: each is refused by the name of its mistake.
SECOND_SHARE, FEWEST_OF_SECOND = 1 / 3, 2  # failing cases that a second cause alone explains


class Sign(IntEnum):
    """How a cause shows, from the least to the most specific sign."""

    SYMPTOM = 0  # a fault, or the look of a result: true of many causes
    FAULT = 1  # the engine saw a fault of the kind that this mistake makes
    PLACES = 2  # all such faults are at places that only this cause leads to
    MARKS = 3  # the marks of this mistake are in the evidence
    RESULT = 4  # the output equals what this mistake computes
    TEXT = 5  # the text shows it, or failing and passing cases differ in exactly this


class Tier(IntEnum):
    """How much a cause explains: one that explains more is reported, if it is not a rare one."""

    VALUES = 0  # that values are wrong, and how they look
    SIZES = 1  # which sizes are wrong
    SHAPE = 2  # where a result is wrong
    CAUSE = 3  # what the kernel does


@dataclass(frozen=True)
class Hypothesis:
    """A cause, and the numbers of the failing cases that it explains.

    weight: a cause of this weight outranks one of weight 1 that so many times as many cases show.
    least: the fraction of the failing cases that it must explain; fewer match by chance.
    denied: it predicts a wrong result in a case that passed.
    places: it is about which elements are touched. faults: those that show it.
    """

    code: str
    text: FindingText
    matches: frozenset[int]
    sign: Sign = Sign.SYMPTOM
    tier: Tier = Tier.CAUSE
    weight: int = 3
    least: float = 0.0
    denied: bool = False
    places: bool = False
    rounding: bool = False
    symptom: bool = False  # the shape of a result, which follows from another cause
    faults: frozenset[str] = field(default=frozenset())
    line: int | None = None

    def rank(self, cases: frozenset[int]) -> tuple[int, int, int, bool]:
        """Of two causes of these cases the one with the larger rank is the likelier one."""
        explained = self.weight * len(self.matches & cases)
        sign = Sign.MARKS if self.sign is Sign.RESULT else self.sign
        return self.tier, explained, sign, not self.denied


def rank(hypotheses: Collection[Hypothesis], failures: Sequence[Failure]) -> list[Hypothesis]:
    """At most three causes, the likeliest first.

    The first one is the most specific of those that explain the most failing cases. Another one
    must explain enough of the cases that are left, and not follow from the first.
    """
    cases = _telling(failures)
    frequent = [h for h in hypotheses if len(h.matches) >= h.least * len(failures)]
    ranked = sorted(frequent or hypotheses, key=lambda h: h.rank(cases), reverse=True)
    chosen: list[Hypothesis] = []
    left = set(cases)
    for hypothesis in ranked:
        if _is_due(hypothesis, chosen, len(hypothesis.matches & left), len(cases)):
            chosen.append(hypothesis)
            left -= hypothesis.matches
    return chosen[:MOST]


def _telling(failures: Sequence[Failure]) -> frozenset[int]:
    """The numbers of the cases that distinguish causes.

    A result of a few elements matches many mistakes. It counts only if no other case failed.
    """
    large = [n for n, failure in enumerate(failures) if not failure.tiny or failure.wrong is None]
    return frozenset(large or range(len(failures)))


def _is_due(hypothesis: Hypothesis, chosen: Sequence[Hypothesis], alone: int, cases: int) -> bool:
    """Whether a cause is reported after the chosen ones, if it alone explains so many cases.

    Not if it may follow from one of them. A few cases of one mistake look like another mistake.
    """
    if not chosen:
        return True
    again = hypothesis.places and any(cause.places for cause in chosen)
    known = any(not cause.symptom for cause in chosen)
    enough = max(FEWEST_OF_SECOND, SECOND_SHARE * cases if known else 0)
    return alone >= enough and not (hypothesis.symptom or hypothesis.rounding or again)
