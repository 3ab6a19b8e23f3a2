"""How many bytes the kernels of one call move, counted by the interpreter."""

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

    Caches are ignored: every load counts. `sectors` are the 32-byte pieces of memory that the
    warps requested. All three give 0 for an unknown name. `launches` are the engine's own
    records, one for each launch.
    """

    loaded: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    sectors: Counter[str] = field(default_factory=Counter)
    launches: tuple[Traffic, ...] = ()

    @property
    def total(self) -> int:
        """All bytes, loaded and stored."""
        return self.loaded.total() + self.stored.total()

    def percent_used(self, name: str) -> float:
        """The used percentage of the requested sectors; 0 if nothing moved."""
        moved = self.loaded[name] + self.stored[name]
        return 100 * moved / (SECTOR_BYTES * self.sectors[name]) if self.sectors[name] else 0.0

    def l2_hit_rate(self, capacity_bytes: int, concurrency: int) -> float:
        """Fraction of the last launch's block loads that hit in a cache of this size, 0 to 1.

        The model: the cache keeps the blocks used last; `concurrency` programs run at a time and
        take turns.
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

    If kernels are compiled for a GPU, the interpreter runs in a separate process.
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
