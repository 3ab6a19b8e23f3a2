"""Find code that ran in the interpreter and that Triton did not compile.

Python and Triton's code generator may decide a branch differently, for instance by the type of a
constant. Then the verdict would be about code that no GPU runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graders.judge.plan.arms import PLACES
from graders.judge.plan.steps import LaunchPlan
from graders.judge.sandbox.pool import Outcome
from triton_util.report import Finding

TITLE = "Triton leaves out a part of the kernel that the cases run"
SEEN = (
    "The interpreter ran this line. Triton's compiler decides a branch before it differently and "
    "leaves the line out, so no GPU runs it, and the results of the cases say nothing."
)
LONG = "The cases launch so many different kernels that the judge cannot compare what ran."
NEXT = (
    "Decide by a tl.constexpr parameter or by a value that the kernel computes, not by the type of "
    "a value or by whether a call returns None."
)
FEWER = "Launch fewer kernels with different constants in one call."

Arms = Mapping[str, frozenset[int]]


def ran_in(outcomes: Iterable[Outcome]) -> Arms | None:
    """The arms that ran in each launch; None if a process that returned does not report them."""
    found: dict[str, frozenset[int]] = {}
    for outcome in outcomes:
        if outcome.ran is None and outcome.status == "returned":
            return None
        for meaning, arms in (outcome.ran or {}).items():
            found[meaning] = found.get(meaning, frozenset()) | arms
    return found


def unseen(plan: LaunchPlan, ran: Arms | None, visited: Arms) -> list[Finding]:
    """The finding for the first line that ran in a launch and was not compiled for it."""
    if ran is None:
        return [_finding(LONG, None, FEWER)]
    places = (
        _place(plan, arm)
        for meaning, arms in ran.items()
        for arm in arms - visited.get(meaning, frozenset())
    )
    first = min(places, default=None)
    if first is None:
        return []
    line, name = first
    return [_finding(f"In {name}: {SEEN}" if name else SEEN, line or None, NEXT)]


def _place(plan: LaunchPlan, arm: int) -> tuple[int, str]:
    """The line of an arm and its kernel; 0 and "" if no arm has that number."""
    number, place = divmod(arm, PLACES)
    code = plan.kernels[number].code if number < len(plan.kernels) else None
    if code is None or place >= len(code.places):
        return 0, ""
    return code.places[place][0], code.name


def _finding(message: str, line: int | None, step: str) -> Finding:
    return Finding("compile", "not-compiled", TITLE, message, line, None, step)
