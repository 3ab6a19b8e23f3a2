"""From a failing case to a finding: which mistake is it, and what does it look like?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graders.judge.cases import tensors
from graders.judge.cases.compare import Expectation
from graders.judge.diagnosis import generic, raised
from graders.judge.diagnosis.candidates import candidates, refuted
from graders.judge.diagnosis.facts import facts
from graders.judge.diagnosis.failures import Failure
from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.patterns import PATTERNS
from graders.judge.diagnosis.picture import draw
from graders.judge.diagnosis.returned import wrong_return_text
from graders.judge.diagnosis.store_targets import aimed, handed
from graders.judge.records import Exercise, Fault, Misconception
from graders.judge.report import Finding, Picture

MAX_FINDINGS = 3
# A second cause must alone explain this share of the failing cases, and so many of them.
SECOND_SHARE, FEWEST_OF_SECOND = 1 / 3, 2
# The incorrect kernels in tests/course test these numbers: each is refused by the name of its
# mistake. After a change of one judge all kernels again, with benchmarks/verdicts.py.
MISCONCEPTION_WEIGHT = 3  # a misconception outranks a pattern that three times as many show
PATTERN_WEIGHT = 2  # and a pattern above a finding that says only that values are wrong
VAGUE = "wrong-values"
SHAPES = frozenset(pattern.code for pattern in PATTERNS) | {VAGUE}  # of a wrong result
SAYING_LITTLE = {VAGUE} | {pattern.code for pattern in PATTERNS if pattern.says_little}
UNEXPLAINED = {VAGUE} | {pattern.code for pattern in PATTERNS if pattern.unexplained}
ABOUT_PROGRAMS = {pattern.code for pattern in PATTERNS if pattern.about_places}
TELLING = ("uninitialised-read",)  # faults that say more than any pattern of the result
TF32 = "tf32-product"
MOSTLY = 0.8  # of the faults
MASK_MISSING, BLOCK_OUTSIDE = "missing-mask", "block-outside"
NOTHING_STORED = "nothing-stored"  # also seen if a loop has no step in a small case
_LAUNCH = re.compile(r"^[\w.]+\[.*\]\(")  # kernel[grid](
# Faults that the numbers of the launch explain: sizes, strides, the grid.
ABOUT_PLACES = frozenset(code for code in generic.FAULTS if code.startswith(("out-of-", "gap-")))
IMAGE = ("img",)  # an exercise with this single argument turns pictures into pictures
CERTAIN = ("wrong-return", "inputs-changed")  # not guesses either

Cause = tuple[Failure, Misconception | None, str]
"""A failing case, the misconception that accounts for it, and the code under which it is told."""


def explain(
    exercise: Exercise,
    failures: Sequence[Failure],
    gate: str,
    passed: Sequence[tuple[tuple[Any, ...], Expectation]] = (),
) -> list[Finding]:
    """At most three findings for the failing cases of one gate, the likeliest cause first.

    The misconception that explains the most failing cases is named first; others explain the
    remaining cases. If several explain equally many, one that predicts a wrong result in a case
    that passed comes last (`passed`: arguments and expectation).
    """
    named = candidates(exercise, failures)
    votes = Counter(m.code for _, found in named for m in found)
    doubtful = refuted(exercise, votes, passed)
    causes = _telling(_causes(exercise, named, votes, doubtful))
    weight = _weights(causes, votes, doubtful)
    alone = Counter(code for *_, code in causes)
    findings: dict[str, Finding] = {}
    named_one = False
    placing = {m.code for _, m, _ in causes if m is not None and m.places} | ABOUT_PROGRAMS
    for failure, cause, code in sorted(causes, key=lambda item: -weight[item[2]]):
        # Another named mistake hides a rounding error.
        if code in findings or (findings and cause is not None and cause.everywhere):
            continue
        if cause is None:
            findings[code] = _generic_finding(exercise, failure, gate)
        # A few odd cases of one named mistake look like another mistake.
        elif alone[code] >= _fewest(len(causes), bool(findings), named_one):
            findings[code] = _misconception_finding(exercise, cause, failure, gate)
            if code == MASK_MISSING and _only_whole_blocks(failures):
                findings[code] = relabel(
                    findings[code], BLOCK_OUTSIDE, generic.FAULTS[BLOCK_OUTSIDE]
                )
            named_one = True
    return _causes_only(list(findings.values()), placing)[:MAX_FINDINGS]


def _only_whole_blocks(failures: Sequence[Failure]) -> bool:
    """Whether most accesses outside had all lanes of a block outside: then no mask is missing.

    With one program per block, some lanes of a block at the end are inside. (Programs that run
    together are counted together, so a few such faults may look like parts of a block.)
    """
    places = [
        fault.outside
        for failure in failures
        for fault in failure.evidence.faults
        if fault.code in ABOUT_PLACES
    ]
    whole = [bool(seen and 1 < seen.active == seen.lanes) for seen in places]
    return bool(whole) and sum(whole) >= MOSTLY * len(whole)


def _fewest(cases: int, told: bool, named: bool) -> float:
    """How many cases a mistake must alone explain, if another finding is reported before it."""
    return max(FEWEST_OF_SECOND if told else 0, SECOND_SHARE * cases if named else 0)


def _causes(
    exercise: Exercise,
    named: Sequence[tuple[Failure, list[Misconception]]],
    votes: Mapping[str, int],
    doubtful: set[str],
) -> list[Cause]:
    """For each failing case the misconception that most cases match, or what its result shows."""
    order = {m.code: -position for position, m in enumerate(exercise.misconceptions)}

    def rank(m: Misconception) -> tuple[int, bool, int]:
        return votes[m.code], m.code not in doubtful, order[m.code]

    causes: list[Cause] = []
    for failure, found in named:
        if found:
            best = max(found, key=rank)
            causes.append((failure, best, best.code))
        else:
            causes.append((failure, None, _generic_text(failure, _generic_fault(failure))[0]))
    return causes


def _weights(
    causes: Sequence[Cause], votes: Mapping[str, int], doubtful: set[str]
) -> Mapping[str, int]:
    """The rank of each cause by its code: causes with more weight are reported first."""
    weight = Counter(code for _, cause, code in causes if cause is None)
    weight |= Counter({code: PATTERN_WEIGHT * weight[code] for code in weight.keys() - {VAGUE}})
    weight |= Counter({code: MISCONCEPTION_WEIGHT * weight[code] for code in CERTAIN})
    weight |= Counter({m.code: MISCONCEPTION_WEIGHT * votes[m.code] for _, m, _ in causes if m})
    sure = {m.code for _, m, _ in causes if m is not None and not m.everywhere} - doubtful
    for vague in SAYING_LITTLE if sure else ():
        weight[vague] = min(weight[vague], max(weight[code] for code in sure) - 1)
    return weight


def explain_tf32(exercise: Exercise, failures: Sequence[Failure], gate: str) -> list[Finding]:
    """At most one finding for cases that are correct if nothing is cut off to TF32."""
    known = [m for m in exercise.misconceptions if m.code == TF32]
    for failure in failures[:1]:
        if known:
            return [_misconception_finding(exercise, known[0], failure, gate)]
        return [_generic_finding(exercise, failure, gate)]
    return []


def _causes_only(told: Sequence[Finding], placing: set[str]) -> list[Finding]:
    """Drop findings that are symptoms of the first one.

    These are the shape of a wrong result, and a second mistake about where programs are placed.
    """
    kept: list[Finding] = []
    for found in told:
        symptom = found.code in SHAPES
        again = found.code in placing and any(f.code in placing for f in kept)
        if not kept or not (symptom or again):
            kept.append(found)
    return kept


def _telling(causes: list[Cause]) -> list[Cause]:
    """Drop causes that say little if others say more.

    These are causes seen only in tiny cases although larger ones fail too, because a few values
    match too much. They are also cases in which no program stored anything although in others some
    did: a loop had no step.
    """
    large = [cause for cause in causes if not cause[0].tiny or cause[0].wrong is None]
    stored = [cause for cause in large or causes if cause[2] != NOTHING_STORED]
    return stored or large or causes


def _misconception_finding(
    exercise: Exercise, misconception: Misconception, failure: Failure, gate: str
) -> Finding:
    fault = _telling_fault(failure, misconception.faults)
    detail = _detail(exercise, failure, fault, mapped=misconception.code == "launch-order")
    return Finding(
        gate=gate,
        code=misconception.code,
        title=misconception.title,
        message=f"{misconception.message}\n\n{detail}",
        line=_line(failure, fault),
        case=failure.case.name,
        next_step=misconception.next_step,
        picture=_picture(failure, exercise),
        original=fault.message if fault is not None else "",
        facts=facts(exercise, failure, fault),
    )


def _generic_finding(exercise: Exercise, failure: Failure, gate: str) -> Finding:
    fault = _generic_fault(failure)
    code, text = _generic_text(failure, fault)
    detail = _detail(exercise, failure, fault, text.message, mapped=code == "inputs-changed")
    return Finding(
        gate=gate,
        code=code,
        title=text.title,
        message=f"{text.message}\n\n{detail}".strip(),
        line=_line(failure, fault),
        case=failure.case.name,
        next_step=text.next_step,
        picture=_picture(failure, exercise),
        original=fault.message if fault is not None else "",
        facts=facts(exercise, failure, fault),
    )


def seen_in(
    finding: Finding, exercise: Exercise, failure: Failure, block: tuple[int, ...] = ()
) -> Finding:
    """The finding with another failing case of its kind, so that a card shows one case only.

    block: that of the kernel's stores to the result, if it is known.
    """
    wanted = [m.faults for m in exercise.misconceptions if m.code == finding.code]
    fault = _telling_fault(failure, wanted[0] if wanted else frozenset())
    told, _, _ = finding.message.partition("\n\n")
    mapped = finding.code in ("launch-order", "inputs-changed")
    detail = _detail(exercise, failure, fault, told, mapped=mapped)
    return replace(
        finding,
        message=f"{told}\n\n{detail}",
        line=_line(failure, fault) or finding.line,
        case=failure.case.name,
        picture=_picture(failure, exercise, block),
        original=fault.message if fault is not None else "",
        facts=facts(exercise, failure, fault),
    )


def relabel(finding: Finding, code: str, text: FindingText) -> Finding:
    """The finding under another name; the description of the case stays."""
    _, blank, seen = finding.message.partition("\n\n")
    message = f"{text.message}{blank}{seen}"
    return replace(finding, code=code, title=text.title, message=message, next_step=text.next_step)


def _generic_fault(failure: Failure) -> Fault | None:
    return _telling_fault(failure, frozenset())


def _generic_text(failure: Failure, fault: Fault | None) -> tuple[str, FindingText]:
    if failure.difference is not None:
        return failure.difference.code, failure.difference.text
    if failure.status == "wrong-return":
        return "wrong-return", wrong_return_text(failure.expectation, failure.returned)
    if failure.error is not None and failure.error.code in generic.FAULTS:
        return failure.error.code, _error_text(failure.error)
    if failure.status in generic.OUTCOMES:
        return failure.status, generic.OUTCOMES[failure.status]
    if failure.status == "raised":
        told = failure.error.message if failure.error else ""
        return "raised", raised.raised_text(told)
    serious = fault is not None and fault.code in generic.FAULTS
    if serious and fault is not None and (failure.wrong is None or fault.code in TELLING):
        return fault.code, generic.FAULTS[fault.code]
    for pattern in PATTERNS:
        if failure.wrong is not None and pattern.shows(failure.evidence, failure.wrong):
            return pattern.code, pattern.text
    if serious and fault is not None:
        return fault.code, generic.FAULTS[fault.code]
    return VAGUE, generic.WRONG_VALUES


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


def _telling_fault(failure: Failure, wanted: frozenset[str]) -> Fault | None:
    """The fault to report: one that the misconception names, or else the first one."""
    faults = failure.evidence.faults
    for fault in faults:
        if fault.code in wanted or f"{fault.code}:{fault.argument}" in wanted:
            return fault
    return failure.error or (faults[0] if faults else None)


def _line(failure: Failure, fault: Fault | None) -> int | None:
    if failure.difference is not None:
        return failure.difference.line
    return fault.line if fault is not None else None


def _detail(
    exercise: Exercise,
    failure: Failure,
    fault: Fault | None,
    told: str = "",
    *,
    mapped: bool = False,
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
    stopped = mapped or (fault is not None and fault.code in ABOUT_PLACES)
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


def _picture(failure: Failure, exercise: Exercise, block: tuple[int, ...] = ()) -> Picture | None:
    wrong, evidence = failure.wrong, failure.evidence
    if wrong is None or not bool(wrong.any()):
        return None
    values = None if evidence.actual is None else (evidence.actual, evidence.expected)
    pixels = exercise.parameters[:1] == IMAGE
    return draw(wrong, evidence.never_stored, values, block, pixels)
