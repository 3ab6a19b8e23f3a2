"""Turns failed calls into findings, which name the mistake in a tutor's words."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch

from graders.judge.calling.calls import Call, Called, Conversation
from graders.judge.calling.words import ENDED, NOT_FINITE, RETURNED, SWAPPED, UNIT, VALUES, raised
from graders.judge.cases import tensors
from graders.judge.diagnosis.generic import FindingText
from graders.judge.plan.steps import Raised
from graders.judge.records import Evidence, Exercise, ExpectedWrong, Misconception, PlainFunction
from triton_util.report import Finding

GATE = "call"
MOST_FINDINGS = 3
WEIGHT = 3  # a named mistake counts like an unnamed one in three times as many cases
LEAST_REL = 1e-6  # relative tolerance between a result and what a mistake computes
VAGUE = "wrong-values"
POWERS = (3, -3, 6, -6, 9, -9, 12, -12)


def holds(outcome: Called, function: PlainFunction) -> bool:
    """Whether a call returned the correct numbers."""
    return outcome.numbers is not None and near(
        outcome.numbers, outcome.call.expected, function.rel
    )


def findings(exercise: Exercise, function: PlainFunction, talk: Conversation) -> list[Finding]:
    """Return at most three findings, the likeliest cause first."""
    if talk.unloaded is not None:
        return [_unloaded(talk.unloaded)]
    failed = [outcome for outcome in talk.outcomes if not holds(outcome, function)]
    passed = [outcome.call for outcome in talk.outcomes if holds(outcome, function)]
    fitting = [(o, [m for m in exercise.misconceptions if _shows(m, o, function)]) for o in failed]
    votes = Counter(m.code for _, found in fitting for m in found)
    refuted = {m.code for m in exercise.misconceptions if m.code in votes and _refuted(m, passed)}
    order = {m.code: -position for position, m in enumerate(exercise.misconceptions)}
    told: dict[str, Finding] = {}
    weight: Counter[str] = Counter()
    for outcome, found in fitting:
        best = max(
            found,
            key=lambda m: (votes[m.code], m.code not in refuted, order[m.code]),
            default=None,
        )
        code, text = (best.code, _text(best)) if best else _generic(outcome, function)
        weight[code] += WEIGHT if best else 1
        told.setdefault(code, _finding(exercise, function, outcome, code, text))
    ordered = sorted(told.values(), key=lambda finding: -weight[finding.code])
    named = [finding for finding in ordered if finding.code != VAGUE]
    return (named or ordered)[:MOST_FINDINGS]


def _shows(misconception: Misconception, outcome: Called, function: PlainFunction) -> bool:
    """Whether a failing call matches this misconception.

    An error in a record only means that it does not match: its author may have missed this case.
    """
    if misconception.faults & {fault.code for fault in outcome.faults}:
        return True
    with contextlib.suppress(Exception):
        if misconception.detector is not None and misconception.detector(_evidence(outcome)):
            return True
    if outcome.numbers is None:
        return False
    numbers, rel = outcome.numbers, max(function.rel, LEAST_REL)
    wrong = [one for e in misconception.expected_wrong for one in wrong_numbers(e, outcome.call)]
    return any(near(numbers, one, rel) for one in wrong)


def _evidence(outcome: Called) -> Evidence:
    numbers = outcome.numbers
    return Evidence(
        args=outcome.call.args,
        expected=torch.tensor(outcome.call.expected, dtype=torch.float64),
        actual=None if numbers is None else torch.tensor(numbers, dtype=torch.float64),
        never_stored=None,
        faults=outcome.faults,
    )


def wrong_numbers(expected: ExpectedWrong, call: Call) -> list[tuple[float, ...]]:
    """Return what each form of a mistake computes; None in a form means the correct number."""
    with contextlib.suppress(Exception):
        given: Any = expected.function(*call.args)
        forms = given if isinstance(given, list) else [given]
        results = [form if isinstance(form, tuple) else (form,) for form in forms if form]
        return [
            tuple(r if w is None else float(w) for w, r in zip(form, call.expected, strict=True))
            for form in results
        ]
    return []


def _refuted(misconception: Misconception, passed: Sequence[Call]) -> bool:
    """Whether each form of the mistake would have failed a call that passed."""
    if misconception.detector is not None or misconception.faults:
        return False
    for call in passed:
        forms = [one for e in misconception.expected_wrong for one in wrong_numbers(e, call)]
        if forms and not any(near(one, call.expected, LEAST_REL) for one in forms):
            return True
    return False


def near(numbers: Sequence[float], others: Sequence[float], rel: float) -> bool:
    """Whether each number is within the relative tolerance; infinite ones never are."""
    pairs = zip(numbers, others, strict=True)
    return all(abs(a - b) <= rel * abs(b) < math.inf for a, b in pairs)


# ---------------------------------------------------------------- mistakes without a name


def _generic(outcome: Called, function: PlainFunction) -> tuple[str, FindingText]:
    if outcome.raised is not None and _endless(outcome.raised):
        return "timeout", ENDED["timeout"]
    if outcome.raised is not None:
        return "raised", raised(outcome.raised.kind, outcome.raised.text)
    if outcome.ended:
        return outcome.ended, ENDED[outcome.ended]
    if outcome.numbers is None:
        return "wrong-return", RETURNED
    if not all(map(math.isfinite, outcome.numbers)):
        return "not-finite", NOT_FINITE
    numbers, expected = outcome.numbers, outcome.call.expected
    rel = max(function.rel, LEAST_REL)
    if len(set(expected)) > 1 and near(numbers[::-1], expected, rel):
        return "swapped-results", SWAPPED
    for power in POWERS:
        scaled = [number * 10.0**power for number in expected]
        if any(expected) and near(numbers, scaled, rel):
            return "wrong-unit", UNIT
    return VAGUE, VALUES


def _endless(told: Raised) -> bool:
    return told.kind == "TimeoutError" and "does not come to an end" in told.text


def _unloaded(told: Raised) -> Finding:
    if _endless(told):
        text, code = ENDED["timeout"], "timeout"
    else:
        text, code = raised(told.kind, told.text), "raised"
    original = f"{told.kind}: {told.text}"
    return Finding(
        GATE, code, text.title, text.message, told.line, None, text.next_step, original=original
    )


# ---------------------------------------------------------------- in words


def _text(misconception: Misconception) -> FindingText:
    return FindingText(misconception.title, misconception.message, misconception.next_step)


def _finding(
    exercise: Exercise, function: PlainFunction, outcome: Called, code: str, text: FindingText
) -> Finding:
    shown = outcome.raised
    return Finding(
        gate=GATE,
        code=code,
        title=text.title,
        message=f"{text.message}\n\n{_detail(exercise, function, outcome)}".strip(),
        line=None if shown is None else shown.line,
        case=outcome.call.case.name,
        next_step=text.next_step,
        original="" if shown is None else f"{shown.kind}: {shown.text}",
    )


def _detail(exercise: Exercise, function: PlainFunction, outcome: Called) -> str:
    call = outcome.call
    if function.arguments is None:
        said = [f"Seen with {tensors.describe(call.case, exercise.parameters)}."]
    else:
        said = [f"Seen in the case {call.case.name}."]
    said.append(call.case.why)
    if outcome.numbers is not None:
        given, right = (_numbers(n, function) for n in (outcome.numbers, call.expected))
        said.append(f"It returned {given}; the correct result is {right}.")
    elif outcome.returned:
        said.append(f"It returned {outcome.returned}; the contract asks for {_asked(function)}.")
    return " ".join(filter(None, said))


def _numbers(numbers: Sequence[float], function: PlainFunction) -> str:
    shown = [f"{n:.6g} {unit}" for n, unit in zip(numbers, function.returns, strict=True)]
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"


def _asked(function: PlainFunction) -> str:
    """Return what to return, such as `a number (ms)` or `a tuple of 2 numbers (GB/s, TFLOP/s)`."""
    count = len(function.returns)
    what = "a number" if count == 1 else f"a tuple of {count} numbers"
    return f"{what} ({', '.join(function.returns)})"
