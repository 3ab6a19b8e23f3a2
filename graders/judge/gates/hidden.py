"""The hidden cases of an official grade, and all that a report says about them.

They are captured, compiled and run in processes that know no public case, and no process that knows
a hidden case judges a public one. A submission can choose by the given shape what it says and does
there: texts, lines, names, mistakes, and how long it takes. So a report contains none of that. It
says only which parts failed, or that only time was short, in our own words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graders.judge.gates.protocol import Context, GateResult
from graders.judge.records import Case, GraderError
from graders.judge.scoring import WASTEFUL_SHARE
from triton_util.report import Finding

Parts = tuple[set[str], bool]
"""The parts in which a hidden case failed, and whether large cases were only too slow."""

TITLE = "Hidden cases fail"
FAILED = (
    "The submission fails in cases that only the official grade runs. The judge does not show "
    "them, because a submission could read them out."
)
SLOW = (
    "The submission is correct in small cases that only the official grade runs, but runs out of "
    "time in large ones."
)
NEXT = (
    "Hidden cases are of the same kinds as the public ones. Try other sizes, strides and dtypes "
    "that the contract allows, and sizes that are not a multiple of a block."
)
UNGRADED = (
    "a hidden case could not be judged. Why is not told, because a submission can choose it: judge "
    "the submission again, and look at it if that happens again"
)


def graded(
    gate: str, context: Context, judge: Callable[[], Parts], counted: Sequence[Case] = ()
) -> GateResult:
    """The result of a gate for the hidden cases, which `judge` runs.

    The `counted` cases of a part pass or fail together.
    """
    try:
        failed, slow = judge()
    except GraderError as error:
        raise GraderError(UNGRADED) from error
    facts = context.facts
    facts.failed_parts |= failed
    facts.cases_total += len(counted)
    facts.cases_passed += sum(case.part not in failed for case in counted)
    if not failed and not slow:
        return GateResult.of(())
    parts = ", ".join(part for part in context.exercise.parts if part in failed)
    return GateResult.of(
        [
            Finding(
                gate,
                code="hidden-cases",
                title=TITLE,
                message=SLOW if slow else FAILED,
                case=f"a hidden case ({parts})" if parts else "a hidden case",
                next_step=NEXT,
            )
        ],
        keeps=WASTEFUL_SHARE if slow else None,
    )
