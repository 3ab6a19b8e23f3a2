"""From failing cases to findings: which mistake is it, and what does it look like?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graders.judge.cases import tensors
from graders.judge.diagnosis.by_text import access_fault, outside, suspects
from graders.judge.diagnosis.factors import separating
from graders.judge.diagnosis.facts import facts
from graders.judge.diagnosis.failures import Failure, Seen
from graders.judge.diagnosis.named import named_mistakes
from graders.judge.diagnosis.picture import draw
from graders.judge.diagnosis.ranking import Hypothesis, Sign, Tier, rank
from graders.judge.diagnosis.store_targets import aimed, handed
from graders.judge.diagnosis.symptoms import first_fault, symptoms
from graders.judge.records import Exercise, Fault
from triton_util.report import Finding, Picture

IMAGE = ("img",)  # an exercise with this single argument turns pictures into pictures


@dataclass(frozen=True)
class Cause:
    """A cause of failing cases, and the case that shows it."""

    hypothesis: Hypothesis
    failure: Failure


def explain(
    exercise: Exercise, seen: Seen, experiment: Callable[[], Seen] | None = None
) -> list[Cause]:
    """At most three causes, the likeliest first.

    experiment: runs cases again and sees more of them, if nothing says what the kernel does.
    """
    causes = _ranked(exercise, seen)
    if causes and causes[0].hypothesis.tier < Tier.SHAPE and experiment is not None:
        return _ranked(exercise, experiment())
    return causes


def _ranked(exercise: Exercise, seen: Seen) -> list[Cause]:
    failures, cases, source = seen.failures, seen.cases, seen.source
    if not failures:
        return []  # the text of a correct submission is never read here
    named = named_mistakes(exercise, failures, [case for case in cases if not case.failed])
    every = frozenset(range(len(failures)))
    unnamed = every.difference(*(mistake.matches for mistake in named))
    computed = {n for mistake in named if mistake.sign is Sign.RESULT for n in mistake.matches}
    hypotheses = [
        *named,
        *suspects(failures, source, computed),
        *outside(failures, cases, source),
        *(h for h in separating(cases, exercise.parameters, failures) if h.matches),
        *symptoms(failures, unnamed, source),
    ]
    return [
        Cause(hypothesis, failures[min(hypothesis.matches)])
        for hypothesis in rank(hypotheses, failures)
    ]


def finding(
    gate: str,
    exercise: Exercise,
    cause: Cause,
    block: tuple[int, ...] = (),
) -> Finding:
    """The finding for a cause; `block` is that of the stores to the result, if it is known."""
    hypothesis, failure = cause.hypothesis, cause.failure
    text, fault = hypothesis.text, first_fault(failure, hypothesis.faults)
    detail = _detail(exercise, failure, fault, text.message, mapped=hypothesis.places)
    line = hypothesis.line if fault is None else hypothesis.line or fault.line
    return Finding(
        gate=gate,
        code=hypothesis.code,
        title=text.title,
        message=f"{text.message}\n\n{detail}".strip(),
        line=line,
        case=failure.case.name,
        next_step=text.next_step,
        picture=_picture(failure, exercise, block),
        original=fault.message if fault is not None else "",
        facts=facts(exercise, failure, fault),
    )


def _detail(
    exercise: Exercise,
    failure: Failure,
    fault: Fault | None,
    told: str,
    *,
    mapped: bool,
) -> str:
    """What was seen, in numbers, except what `told` already says.

    mapped: say which kernel parameter got which argument, whatever else is known.
    """
    said = [f"Seen with {tensors.describe(failure.case, exercise.parameters)}."]
    if failure.case.why:
        said.append(failure.case.why)
    if failure.expectation.name:
        said.append(f"Of the results, {failure.expectation.name} is looked at here.")
    if failure.schedule not in ("grid", "serial"):
        said.append(f"Seen when the programs ran in {failure.schedule} order.")
    if fault is not None:
        said.append(fault.message if fault.message not in told else "")
    stopped = mapped or access_fault(failure) is not None
    if failure.wrong is not None and bool(failure.wrong.any()):
        said.append(_first_difference(failure))
        missed = aimed(failure.evidence)
        said += [missed, handed(failure.evidence, exercise.parameters) if missed or stopped else ""]
    elif stopped:
        said.append(handed(failure.evidence, exercise.parameters))
    return " ".join(filter(None, said))


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
    shown = _number(got), _number(want)
    if shown[0] == shown[1]:  # a copy must agree in every digit
        shown = repr(got), repr(want)
    return f"{count}: got {shown[0]}, expected {shown[1]}."


def _number(value: float | bool) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _picture(failure: Failure, exercise: Exercise, block: tuple[int, ...]) -> Picture | None:
    wrong, evidence = failure.wrong, failure.evidence
    if wrong is None or not bool(wrong.any()):
        return None
    values = None if evidence.actual is None else (evidence.actual, evidence.expected)
    pixels = exercise.parameters[:1] == IMAGE
    return draw(wrong, evidence.never_stored, values, block, pixels)
