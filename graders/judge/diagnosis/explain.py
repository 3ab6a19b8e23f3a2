"""From a failing case to a finding: which mistake is it, and what does it look like?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from graders.judge.cases import tensors
from graders.judge.cases.compare import Expectation
from graders.judge.diagnosis import generic
from graders.judge.diagnosis.generic import Words
from graders.judge.diagnosis.matching import shows, would_fail
from graders.judge.diagnosis.patterns import PATTERNS
from graders.judge.diagnosis.picture import draw
from graders.judge.records import Case, Evidence, Exercise, Fault, Misconception
from graders.judge.report import Finding, Picture

MAX_FINDINGS = 3
# The numbers below are held by tests/wrong_kernels: with them each kernel's own mistake is named.
# After a change of one judge all kernels again, with benchmarks/verdicts.py.
MISCONCEPTION_WEIGHT = 3  # a misconception stands before a pattern that three times as many show
PATTERN_WEIGHT = 2  # and a pattern before what says no more than that values are wrong
VAGUE = "wrong-values"
# What says no more than how values are wrong: no second mistake beside one that has a name.
GUESSES = frozenset(
    (
        *("nearly-right", "constant-factor", "constant-offset", "nan-result", "all-zeros"),
        *("right-values-elsewhere", "shifted-by-one", "signs-differ"),
    )
)
TELLING = ("uninitialised-read",)  # faults that say more than any pattern of the result
TF32 = "tf32-product"
CERTAIN = ("wrong-return", "inputs-changed")  # no guesses either
MOST = 0.4  # of the failing cases of a dtype, where a mistake shows everywhere
THOROUGH = 16  # failing cases, tiny ones aside, that are asked about every misconception
TINY = 8  # elements: fewer cannot tell one mistake from another
FORETOLD = 10_000  # elements: larger passed cases are not looked at again


@dataclass(frozen=True)
class Difference:
    """A known reason why a GPU gives another result, and the line of the kernel, if any."""

    code: str
    words: Words
    line: int | None = None


@dataclass(frozen=True)
class Failure:
    """One failing case with all that is known of it."""

    case: Case
    hidden: bool
    status: str  # the worker's outcome, "inputs-changed" or "wrong-values"
    evidence: Evidence
    expectation: Expectation
    wrong: torch.Tensor | None  # bool, True where the output is not acceptable
    error: Fault | None = None
    returned: str = ""  # what came back instead of the result, in words
    schedule: str = "grid"
    difference: Difference | None = None  # why a GPU disagrees with the interpreter


def explain(
    exercise: Exercise,
    failures: Sequence[Failure],
    gate: str,
    passed: Sequence[tuple[tuple[Any, ...], Expectation]] = (),
) -> list[Finding]:
    """At most three findings for the failing cases of one gate, the likeliest cause first.

    The misconception that accounts for the most failing cases is named first; cases that
    it does not account for are explained by what remains. Among equals the one stands back
    that would have failed in a case that has passed (`passed`: arguments and expectation).
    """
    named = _candidates(exercise, failures)
    votes = Counter(m.code for _, found in named for m in found)
    order = {m.code: -position for position, m in enumerate(exercise.misconceptions)}
    refuted = _refuted(exercise, votes, passed)
    causes: list[tuple[Failure, Misconception | None, str]] = []
    for failure, found in named:
        if found:
            best = max(found, key=lambda m: (votes[m.code], m.code not in refuted, order[m.code]))
            causes.append((failure, best, best.code))
        else:
            causes.append((failure, None, _generic_words(failure, _generic_fault(failure))[0]))
    causes = _telling(causes)
    weight = Counter(code for _, cause, code in causes if cause is None)
    weight |= Counter({code: PATTERN_WEIGHT * weight[code] for code in weight.keys() - {VAGUE}})
    weight |= Counter({code: MISCONCEPTION_WEIGHT * weight[code] for code in CERTAIN})
    weight |= Counter({m.code: MISCONCEPTION_WEIGHT * votes[m.code] for _, m, _ in causes if m})
    findings: dict[str, Finding] = {}
    for failure, cause, code in sorted(causes, key=lambda item: -weight[item[2]]):
        if code in findings:
            continue
        if cause is None:
            findings[code] = _generic_finding(exercise, failure, gate)
        else:
            findings[code] = _misconception_finding(exercise, cause, failure, gate)
    told = list(findings.values())
    known = {m.code for m in exercise.misconceptions}
    guesses = {VAGUE} if told and told[0].code not in known else {VAGUE, *GUESSES}
    return [f for f in told if f.code not in guesses or f is told[0]][:MAX_FINDINGS]


def explain_tf32(exercise: Exercise, failures: Sequence[Failure], gate: str) -> list[Finding]:
    """At most one finding for cases that are right where nothing is rounded to TF32."""
    known = [m for m in exercise.misconceptions if m.code == TF32]
    for failure in failures[:1]:
        if known:
            return [_misconception_finding(exercise, known[0], failure, gate)]
        return [_generic_finding(exercise, failure, gate)]
    return []


def _telling(
    causes: list[tuple[Failure, Misconception | None, str]],
) -> list[tuple[Failure, Misconception | None, str]]:
    """Without what the values of a few elements seem to tell, where larger cases tell more."""
    large = [cause for cause in causes if not _tiny(cause[0]) or cause[0].wrong is None]
    return large or causes


def _candidates(
    exercise: Exercise, failures: Sequence[Failure]
) -> list[tuple[Failure, list[Misconception]]]:
    """The misconceptions that each failing case admits.

    In a case of a few elements nearly every mistake looks alike. What only such cases admit
    is no candidate, unless there are no others or the engine itself saw the fault.
    """
    named = _without_strays(_asked(exercise, failures))
    large = [found for failure, found in named if not _tiny(failure)]
    seen = {m.code for found in large for m in found}
    if not large:
        return named
    return [
        (failure, [m for m in found if m.code in seen or m.faults] if _tiny(failure) else found)
        for failure, found in named
    ]


def _asked(
    exercise: Exercise, failures: Sequence[Failure]
) -> list[tuple[Failure, list[Misconception]]]:
    """What each failing case admits. Beyond the first ones only what those have admitted, and
    what the engine sees, is asked about: a learner waits for the answer.
    """
    named: list[tuple[Failure, list[Misconception]]] = []
    seen: set[str] = set()
    thorough = THOROUGH
    for failure in failures:
        known = [m for m in exercise.misconceptions if m.faults or m.code in seen]
        found = _misconceptions(exercise.misconceptions if thorough > 0 else known, failure)
        seen |= {m.code for m in found}
        thorough -= not _tiny(failure)
        named.append((failure, found))
    return named


def _without_strays(
    named: list[tuple[Failure, list[Misconception]]],
) -> list[tuple[Failure, list[Misconception]]]:
    """Without roundings that few of the failing cases show: some other mistake is small there."""
    failing = Counter(failure.expectation.dtype for failure, _ in named)
    shown = Counter((m.code, failure.expectation.dtype) for failure, found in named for m in found)

    def stands(m: Misconception, dtype: torch.dtype) -> bool:
        return not m.everywhere or shown[m.code, dtype] >= MOST * failing[dtype]

    return [
        (failure, [m for m in found if stands(m, failure.expectation.dtype)])
        for failure, found in named
    ]


def _tiny(failure: Failure) -> bool:
    return failure.evidence.expected.numel() <= TINY


def _refuted(
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
    return {m.code for m in tied if any(would_fail(m, args, want) for args, want in small)}


def _misconceptions(asked: Sequence[Misconception], failure: Failure) -> list[Misconception]:
    if failure.difference is not None:
        return []
    slack = failure.expectation.slack
    return [m for m in asked if shows(m, failure.evidence, slack)]


def _misconception_finding(
    exercise: Exercise, misconception: Misconception, failure: Failure, gate: str
) -> Finding:
    fault = _telling_fault(failure, misconception.faults)
    detail = _detail(exercise, failure, fault)
    return Finding(
        gate=gate,
        code=misconception.code,
        title=misconception.title,
        message=f"{misconception.message}\n\n{detail}",
        line=_line(failure, fault),
        case=_case_name(failure),
        next_step=misconception.next_step,
        picture=_picture(failure),
        original=_original(failure, fault),
    )


def _generic_finding(exercise: Exercise, failure: Failure, gate: str) -> Finding:
    fault = _generic_fault(failure)
    code, words = _generic_words(failure, fault)
    return Finding(
        gate=gate,
        code=code,
        title=words.title,
        message=f"{words.message}\n\n{_detail(exercise, failure, fault)}".strip(),
        line=_line(failure, fault),
        case=_case_name(failure),
        next_step=words.next_step,
        picture=_picture(failure),
        original=_original(failure, fault),
    )


def _generic_fault(failure: Failure) -> Fault | None:
    return _telling_fault(failure, frozenset())


def _generic_words(failure: Failure, fault: Fault | None) -> tuple[str, Words]:
    if failure.difference is not None:
        return failure.difference.code, failure.difference.words
    if failure.status == "wrong-return":
        return "wrong-return", _wrong_return_words(failure)
    if failure.error is not None and failure.error.code in generic.FAULTS:
        return failure.error.code, _error_words(failure.error, failure.hidden)
    if failure.status in generic.OUTCOMES:
        return failure.status, generic.OUTCOMES[failure.status]
    if failure.status == "raised":
        return "raised", _raised_words(failure)
    serious = fault is not None and fault.code in generic.FAULTS
    if serious and fault is not None and (failure.wrong is None or fault.code in TELLING):
        return fault.code, generic.FAULTS[fault.code]
    for pattern in PATTERNS:
        if failure.wrong is not None and pattern.shows(failure.evidence, failure.wrong):
            return pattern.code, pattern.words
    if serious and fault is not None:
        return fault.code, generic.FAULTS[fault.code]
    return VAGUE, generic.WRONG_VALUES


def _error_words(error: Fault, hidden: bool) -> Words:
    """What to do about an error in a kernel depends on the error; of hidden cases it is not said,
    because a submission could speak through it.
    """
    words = generic.FAULTS[error.code]
    told = error.code == "kernel-error" and error.cause and not hidden
    return replace(words, next_step=error.cause) if told else words


def _raised_words(failure: Failure) -> Words:
    """An error in the launcher. One is common: a copied line that asks for a GPU."""
    error = failure.error
    needs_gpu = error is not None and "CUDA" in error.message and not failure.hidden
    return Words(
        "The launcher stops with an error",
        "",
        "Allocate where the inputs are, wherever that is: torch.empty_like(x), or "
        "torch.empty(..., device=x.device)."
        if needs_gpu
        else "Mend it and check again.",
    )


def _wrong_return_words(failure: Failure) -> Words:
    title = "The launcher returns the wrong thing"
    advice = "Look at the line that allocates the output and at the return statement."
    if failure.hidden:
        return Words(title, "It must return a new tensor of the right shape and dtype.", advice)
    dtype = tensors.dtype_word(failure.expectation.dtype)
    want = f"of shape {failure.expectation.shape} and dtype {dtype}"
    return Words(title, f"It must return a new tensor {want}, but {failure.returned}.", advice)


def _telling_fault(failure: Failure, wanted: frozenset[str]) -> Fault | None:
    """The fault to speak of: one that the misconception names, else the first there is."""
    faults = failure.evidence.faults
    for fault in faults:
        if fault.code in wanted or f"{fault.code}:{fault.argument}" in wanted:
            return fault
    return failure.error or (faults[0] if faults else None)


def _line(failure: Failure, fault: Fault | None) -> int | None:
    """None in hidden cases: a submission can stop at a line for each size that it may be given."""
    if failure.hidden:
        return None
    if failure.difference is not None:
        return failure.difference.line
    return fault.line if fault is not None else None


def _original(failure: Failure, fault: Fault | None) -> str:
    if failure.hidden:
        return ""
    return fault.message if fault is not None else ""


def _case_name(failure: Failure) -> str:
    return f"a hidden case ({failure.case.part})" if failure.hidden else failure.case.name


def _detail(exercise: Exercise, failure: Failure, fault: Fault | None) -> str:
    """What was seen, in numbers. Hidden cases give none: feedback must not leak them."""
    if failure.hidden:
        return f"Seen in a hidden case ({failure.case.part})."
    said = [f"Seen with {tensors.describe(failure.case, exercise.parameters)}."]
    if failure.case.why:
        said.append(failure.case.why)
    if failure.schedule not in ("grid", "serial"):
        said.append(f"Seen when the programs ran in {failure.schedule} order.")
    if fault is not None:
        said.append(fault.message)
    if failure.wrong is not None and bool(failure.wrong.any()):
        said.append(_first_difference(failure))
    return " ".join(said)


def _first_difference(failure: Failure) -> str:
    """`12 of 100 elements are wrong; the first is [3, 4]: got 1.5, expected 2.5.`"""
    wrong, actual = failure.wrong, failure.evidence.actual
    assert wrong is not None
    index = tuple(wrong.nonzero()[0].tolist())
    where = "[" + ", ".join(map(str, index)) + "]"
    count = f"{int(wrong.sum())} of {wrong.numel()} elements are wrong; the first is {where}"
    never = failure.evidence.never_stored
    if actual is None or (never is not None and bool(never[index])):
        return f"{count}, which no program stored."
    got, want = actual[index].item(), failure.evidence.expected[index].item()
    return f"{count}: got {_number(got)}, expected {_number(want)}."


def _number(value: float | bool) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _picture(failure: Failure) -> Picture | None:
    wrong = failure.wrong
    if wrong is None or failure.hidden or not bool(wrong.any()):
        return None
    return draw(wrong, failure.evidence.never_stored)
