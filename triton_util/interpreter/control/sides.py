"""What a kernel ran, and which sides of its decisions: a judge asks what no case has tested.

A decision is a condition that depends on run-time values, a loop, an access with a mask, or a
`tl.program_id`. Each has two sides. Number 2 n + 1 is in `Sides.sides` once decision n was true, or
ran a second round, or had a lane that is masked off, or more than one program along its axis. The
number 2 n is in it once the condition was false, or once the decision was reached at all.
"""

from __future__ import annotations

from typing import Any

import triton.language as tl

from triton_util.interpreter.control.merging import unwrapped
from triton_util.interpreter.operations.blocks import Block
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.operations.language import is_one_element
from triton_util.interpreter.state import Batch


class Sides:
    """What rewritten kernels call at their decisions; `Control` inherits it."""

    batch: Any

    def __init__(self) -> None:
        self.arms: set[int] = set()  # the arms that ran, see `rewriting`
        self.sides: set[int] = set()
        self._rounds: dict[int, int] = {}  # of each loop since it was entered

    def truth(self, condition: Any) -> bool | Array:
        """A Python bool where the active programs agree, else one bool per program."""
        raise NotImplementedError

    def ran(self, arm: int, value: Any = None) -> Any:
        """Note that an arm ran, and return the value of its expression."""
        self.arms.add(arm)
        return value

    def tested(self, decision: int, condition: Any) -> Any:
        """Note which ways the active programs take; returns the condition."""
        value = unwrapped(condition)
        if isinstance(value, tl.tensor) and is_one_element(value.handle):
            answer = self.truth(value)
            self.sides.update(2 * decision + side for side in (0, 1) if answer is not (side == 0))
        return condition

    def entered(self, decision: int) -> None:
        """Note that a loop begins."""
        self._rounds[decision] = 0
        self.sides.add(2 * decision)

    def repeated(self, decision: int) -> None:
        """Count a round of a loop."""
        self._rounds[decision] += 1
        if self._rounds[decision] == 2:
            self.sides.add(2 * decision + 1)

    def looked(self, decision: int, value: Any = None) -> Any:
        """Note what an access or a `tl.program_id` has shown; returns its value."""
        batch: Batch = self.batch
        shown, batch.shown = batch.shown, None
        if shown is not None and 2 * decision + 1 not in self.sides:
            self.sides.add(2 * decision)
            if shown is True or (isinstance(shown, Block) and _cuts(shown, batch.active)):
                self.sides.add(2 * decision + 1)
        return value


def _cuts(mask: Block, active: Array | None) -> bool:
    """Whether the mask disables a lane of an active program."""
    chosen = slice(None) if active is None else active
    parts = (part if len(part) == 1 else part[chosen] for part in mask.mask_factors())
    return not all(part.all() for part in parts)
