"""Find the decisions of which the cases showed one side only, and put them in words.

The sides come from processes that the judge does not trust. They can ask for more cases, and for a
remark; they cannot grant a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graders.judge.plan.arms import PLACES
from graders.judge.plan.code import Code, placed
from graders.judge.plan.decisions import ACCESS, AXIS, CONDITION, LOOP, decisions
from graders.judge.plan.steps import LaunchPlan
from graders.judge.sandbox.pool import Outcome
from triton_util.report import Finding

NOT_REACHED = "not-reached"  # the code of the remark
MOST_NAMED, MOST_CHARACTERS = 3, 80
TITLE = "No case tests a part of this kernel"
NEXT = (
    "This costs no points, but the judge would not see a mistake there. Test this part yourself, "
    "or remove it if no input needs it."
)
_SEEN = {
    (CONDITION, 0): "this condition was never true",
    (CONDITION, 1): "this condition was never false",
    (LOOP, 0): "this loop never ran a second round",
    (ACCESS, 0): "this access masked off no lane",
    (AXIS, 0): "the grid had one program along this axis",
}


@dataclass(frozen=True, order=True)
class Decision:
    """A decision of a submission, wherever its kernel is in a plan."""

    line: int
    column: int
    kind: str


class Sides:
    """The sides that all cases of a submission have shown so far."""

    def __init__(self) -> None:
        self._seen: dict[Decision, set[int]] = {}

    def add(self, plan: LaunchPlan, outcomes: Iterable[Outcome]) -> None:
        """Add what these cases of this plan showed."""
        for number in {number for outcome in outcomes for number in outcome.sides}:
            for decision in _decision(plan, number // 2):
                self._seen.setdefault(decision, set()).add(number % 2)

    def missing(self) -> list[tuple[Decision, int]]:
        """The decisions of which one side was seen, with that side, in the order of the text."""
        return sorted((one, min(sides)) for one, sides in self._seen.items() if len(sides) == 1)


def _decision(plan: LaunchPlan, number: int) -> Iterator[Decision]:
    """Yield the decision of this number; nothing if there is none."""
    kernel, place = divmod(number, PLACES)
    code = plan.kernels[kernel].code if kernel < len(plan.kernels) else None
    kind = "" if code is None else _kinds(code).get(place, "")
    if code is not None and kind:
        yield Decision(*code.places[place], kind)


@lru_cache(maxsize=64)
def _kinds(code: Code) -> dict[int, str]:
    tree = code.known_tree
    return decisions(tree, placed(tree))


def remark(missing: Sequence[tuple[Decision, int]], source: str) -> Finding:
    """The remark about the first few decisions; `source` is the text that contains them."""
    lines = source.split("\n")
    told = dict.fromkeys(
        f"{_SEEN.get((one.kind, side), '')}: `{lines[one.line - 1].strip()[:MOST_CHARACTERS]}`"
        for one, side in missing
        if 0 < one.line <= len(lines)
    )
    named = "; ".join(list(told)[:MOST_NAMED])
    more = f"; and {len(told) - MOST_NAMED} more" if len(told) > MOST_NAMED else ""
    message = f"In the cases that the judge ran, {named}{more}."
    return Finding("interpret", NOT_REACHED, TITLE, message, missing[0][0].line, None, NEXT)
