"""Loops that wait for another program, which the interpreter could repeat endlessly.

If a round of a `while` stores nothing, and reads the same values at the same places as the round
before, then only another program can end the loop. The programs of a batch run in step, so such
rounds prove nothing there: the programs then run one after another. When a program runs alone,
no other program changes memory: after enough such rounds, the loop would never end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.state import Batch, NeedsSerial

if TYPE_CHECKING:
    from triton_util.interpreter.contracts import Running

MOST_ROUNDS = 2_000  # equal rounds of a program that runs alone
SHOWN = 32  # values of a block that are compared; for larger blocks only the place is


class Rounds:
    """The rounds of one `while` loop."""

    def __init__(self, run: Running, batch: Batch) -> None:
        self.run = run
        self.batch = batch
        self.outer = len(batch.rounds)
        self._seen: list[Any] = []
        self._before: tuple[Any, ...] = ()
        self._looked = False
        self._version = -1
        self._alike = 0
        self._place: tuple[str, int, str] | None = None  # of the first load or atomic
        batch.rounds.append(self)

    def saw(self, region: Any, offset: int, values: Array) -> None:
        """Note a load of this round."""
        if self._place is None:
            self._place = self.run.lines.current()
        value = values.tobytes() if values.size <= SHOWN else b""
        self._seen.append((region.address, offset, value))

    def asked(self, region: Any, offset: int, found: Array, changed: bool) -> None:
        """Note an atomic operation of this round; if it changed nothing, it counts as a read."""
        self._looked = self._looked or not changed
        self.saw(region, offset, found)

    def again(self, goes: bool) -> bool:
        """Begin another round if the loop `goes` on; returns `goes`."""
        del self.batch.rounds[self.outer + 1 :]
        self._run_alone()
        if goes:
            self._compare()
        return goes

    def close(self) -> None:
        """The loop has ended."""
        self._run_alone()
        del self.batch.rounds[self.outer :]

    def _compare(self) -> None:
        seen, self._seen = tuple(self._seen), []
        waits = bool(seen) and self._version == self.batch.version
        self._version = self.batch.version
        self._alike = self._alike + 1 if waits and seen == self._before else 0
        self._before = seen
        if self._alike >= MOST_ROUNDS:
            raise self._fault()

    def _run_alone(self) -> None:
        """Run programs one by one if they read atomics in a loop: they may wait for one another.

        Not in a cooperative launch, which needs all its programs to run at the same time.
        """
        looked, self._looked = self._looked, False
        together = self.run.given_options.get("launch_cooperative_grid")
        if looked and self.batch.programs > 1 and not together:
            raise NeedsSerial("a loop waits for what another program does")

    def _fault(self) -> Exception:
        reporter = self.run.builder.launching.reporter
        x, y, z = self.batch.grid
        left = x * y * z - 1 - int(np.max(self.batch.linear))
        program = self.batch.program_id(0)
        place = self._place or self.run.lines.current()
        fault: Exception = reporter.waiting(program, MOST_ROUNDS, left, place)
        return fault
