"""The small language that chooses programs by their ids: `"=0"`, `",>1"`, `">=1,=0"`.

One condition for each axis of the grid, separated by commas. A condition is an operator
(`=`, `==`, `!=`, `<`, `<=`, `>`, `>=`) and a whole number. An empty one accepts every id, so
`""` chooses every program and `",=2"` those with id 2 on axis 1. All conditions must hold.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_AXES = 3
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# The two-character operators come first, so that ">=" is not read as ">".
_CONDITION = re.compile(r"(==|!=|<=|>=|=|<|>)\s*([+-]?\d+)")


class ConditionError(ValueError):
    """A condition that the language does not know; the message shows it and a valid one."""


@dataclass(frozen=True)
class Condition:
    """`id <operator> number` on one axis."""

    axis: int
    operator: str
    number: int

    def holds(self, program_id: int) -> bool:
        return _COMPARE[self.operator](program_id, self.number)


@lru_cache(maxsize=256)
def parse(conditions: str) -> tuple[Condition, ...]:
    """Read conditions such as `">=1,=0"`. Raises ConditionError for anything else."""
    if not isinstance(conditions, str):
        kind = type(conditions).__name__
        raise ConditionError(f'conditions are text such as "=0" or ",>1", not of type {kind}')
    parts = conditions.split(",")
    if len(parts) > _AXES:
        raise ConditionError(
            f"{conditions!r} has {len(parts)} conditions, and a grid has {_AXES} axes at most"
        )
    return tuple(
        _parse_one(part.strip(), axis, conditions)
        for axis, part in enumerate(parts)
        if part.strip()
    )


def matches(conditions: str, program_ids: Sequence[int]) -> bool:
    """Whether all conditions hold for the program with these ids (axis 0 first).

    An axis that the grid does not have has id 0.
    """
    ids = [*program_ids, 0, 0, 0]
    return all(condition.holds(ids[condition.axis]) for condition in parse(conditions))


def _parse_one(text: str, axis: int, conditions: str) -> Condition:
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ConditionError(
            f"condition {text!r} for axis {axis} in {conditions!r} is not understood: write an "
            f"operator ({', '.join(_COMPARE)}) and a whole number, for instance '=0' or '>=2'"
        )
    return Condition(axis, found[1], int(found[2]))
