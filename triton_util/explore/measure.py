"""How many bytes the kernels of one call really move, counted by the interpreter."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_util.environment import interpreting
from triton_util.notebook.session import of_caller
from triton_util.notebook.subprocess_run import call_beside

if TYPE_CHECKING:
    from triton_util.interpreter.watchers.traffic import Traffic

SECTOR_BYTES = 32


@dataclass(frozen=True)
class Moved:
    """Bytes between global memory and the programs, by the kernels' own argument names.

    What a cache would have saved is not taken off: each load counts, each time. `sectors` are
    the 32-byte pieces of memory that the warps asked for. All three give 0 for a name that they
    do not know. `launches` are the engine's own records, one for each launch.
    """

    loaded: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    sectors: Counter[str] = field(default_factory=Counter)
    launches: tuple[Traffic, ...] = ()

    @property
    def total(self) -> int:
        """All bytes, both ways."""
        return self.loaded.total() + self.stored.total()

    def percent_used(self, name: str) -> float:
        """How much of the sectors asked for was wanted, from 0 to 100; 0 if nothing moved."""
        moved = self.loaded[name] + self.stored[name]
        return 100 * moved / (SECTOR_BYTES * self.sectors[name]) if self.sectors[name] else 0.0

    def l2_hit_rate(self, capacity_bytes: int, concurrency: int) -> float:
        """Share of the block loads of the last launch that a cache of this size answers, 0 to 1.

        The model: the blocks used last are kept; `concurrency` programs run at a time and take
        turns.
        """
        if not self.launches:
            return 0.0
        return self.launches[-1].l2(capacity_bytes, concurrency).hit_rate

    def __str__(self) -> str:
        names = dict.fromkeys([*self.loaded, *self.stored])
        width = max([len("argument"), *map(len, names)])
        lines = [f"{'argument':{width}}  {'bytes loaded':>14}  {'bytes stored':>14}"]
        for name in names:
            lines.append(f"{name:{width}}  {self.loaded[name]:14,}  {self.stored[name]:14,}")
        lines.append(f"{'in all':{width}}  {self.loaded.total():14,}  {self.stored.total():14,}")
        return "\n".join(lines)


def measure(launcher: Callable[..., Any], *arguments: Any) -> Moved:
    """Call `launcher(*arguments)` in the interpreter and count what its kernels load and store.

    Where kernels are compiled for a GPU, the interpreter runs in a process of its own.
    """
    if not interpreting():
        place = of_caller(sys._getframe(1))
        moved: Moved = call_beside(launcher, arguments, place, f"{__name__}:measure")
        return moved
    from triton_util.interpreter import EngineOptions, interpret

    with interpret(EngineOptions(track=False, traffic=True)) as run:
        launcher(*arguments)
    launches = tuple(launch.traffic for launch in run.launches if launch.traffic is not None)
    moved = Moved(launches=launches)
    for traffic in launches:
        for name, argument in traffic.arguments.items():
            moved.loaded[name] += argument.loaded + argument.atomic // 2  # read and written
            moved.stored[name] += argument.stored + argument.atomic // 2
            moved.sectors[name] += argument.sectors
    if not moved.total:
        print("Nothing was loaded or stored: is the kernel still a stub?")
    return moved
