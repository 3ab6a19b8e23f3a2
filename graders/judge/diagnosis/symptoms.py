"""What a failing case shows by itself, whatever the exercise is."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from graders.judge.diagnosis import generic, raised
from graders.judge.diagnosis.by_text import endless
from graders.judge.diagnosis.failures import Failure
from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.patterns import PATTERNS
from graders.judge.diagnosis.ranking import Hypothesis, Tier
from graders.judge.diagnosis.returned import wrong_return_text
from graders.judge.records import Fault

LEAST = 1 / 3  # of the failing cases have the shape of a result, or it is a coincidence
# Faults that say more than any pattern of the result.
TELLING = ("uninitialised-read", "tf32-rounding")
CERTAIN = ("wrong-return", "inputs-changed")  # nothing is guessed
WRONG_VALUES = Hypothesis(
    "wrong-values", generic.WRONG_VALUES, frozenset(), tier=Tier.VALUES, weight=1, symptom=True
)
_LAUNCH = re.compile(r"^[\w.]+\[.*\]\(")  # kernel[grid](


def symptoms(
    failures: Sequence[Failure], numbers: Collection[int], source: str
) -> list[Hypothesis]:
    """A hypothesis for each symptom of the failing cases with these numbers."""
    found: dict[str, Hypothesis] = {}
    for number in sorted(numbers):
        shown = _symptom(failures[number], source)
        first = found.setdefault(shown.code, shown)
        found[shown.code] = replace(first, matches=first.matches | {number})
    return list(found.values())


def _symptom(failure: Failure, source: str) -> Hypothesis:
    fault = first_fault(failure)
    if failure.difference is not None:
        code, text, line = failure.difference.code, failure.difference.text, failure.difference.line
        return Hypothesis(code, text, frozenset(), weight=2, line=line)
    if failure.status == "wrong-return":
        return _of(failure.status, wrong_return_text(failure.expectation, failure.returned))
    if failure.error is not None and failure.error.code in generic.FAULTS:
        return _of(failure.error.code, _error_text(failure.error))
    if failure.status == "timeout":
        text, line = endless(source)
        return replace(_of(failure.status, text), line=line)
    if failure.status in generic.OUTCOMES:
        return _of(failure.status, generic.OUTCOMES[failure.status])
    if failure.status == "raised":
        return _of("raised", raised.raised_text(failure.error.message if failure.error else ""))
    serious = fault is not None and fault.code in generic.FAULTS
    if serious and fault is not None and (failure.wrong is None or fault.code in TELLING):
        return _of(fault.code, generic.FAULTS[fault.code])
    for pattern in PATTERNS:
        if failure.wrong is not None and pattern.shows(failure.evidence, failure.wrong):
            return Hypothesis(
                pattern.code,
                pattern.text,
                frozenset(),
                tier=pattern.tier,
                weight=2,
                least=LEAST,
                places=pattern.places,
                symptom=True,
            )
    if serious and fault is not None:
        return _of(fault.code, generic.FAULTS[fault.code])
    return WRONG_VALUES


def _of(code: str, text: FindingText) -> Hypothesis:
    weight = 3 if code in CERTAIN else 2
    return Hypothesis(code, text, frozenset(), weight=weight, places=code == "inputs-changed")


def first_fault(failure: Failure, wanted: frozenset[str] = frozenset()) -> Fault | None:
    """The fault to report: one that is wanted, or else the first one."""
    faults = failure.evidence.faults
    for fault in faults:
        if fault.code in wanted or f"{fault.code}:{fault.argument}" in wanted:
            return fault
    return failure.error or (faults[0] if faults else None)


def _error_text(error: Fault) -> FindingText:
    """The text for an error in a kernel: what to do depends on the error."""
    text = generic.FAULTS[error.code]
    if error.code != "kernel-error":
        return text
    text = replace(text, title=_title_of(error, text.title))
    if error.cause:
        return replace(text, message=error.message, next_step=error.cause)
    known = raised.raised_text(error.message)  # a function of Triton's that the launcher calls
    return replace(known, title=text.title, message=known.message or error.message)


def _title_of(error: Fault, title: str) -> str:
    """The title says where the error occurred: in the kernel, at its launch, or in the launcher."""
    if error.operation == raised.LAUNCHER:
        return raised.TITLE
    return generic.LAUNCH_FAILS if _LAUNCH.search(error.source) else title
