"""How many bytes the kernels of one call really move, counted by the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from triton_util.environment import interpreting


@dataclass(frozen=True)
class Traffic:
    """Bytes between global memory and the programs, by the kernels' own argument names.

    `loaded` and `stored` give 0 for a name that they do not know.
    What a cache would have saved is not taken off: each load counts, each time.
    """

    loaded: Counter[str]
    stored: Counter[str]
    launches: int

    @property
    def bytes_loaded(self) -> int:
        return sum(self.loaded.values())

    @property
    def bytes_stored(self) -> int:
        return sum(self.stored.values())

    @property
    def total(self) -> int:
        """All bytes, both ways."""
        return self.bytes_loaded + self.bytes_stored

    def __str__(self) -> str:
        names = dict.fromkeys([*self.loaded, *self.stored])
        width = max([len("argument"), *map(len, names)])
        lines = [f"{'argument':{width}}  {'bytes loaded':>14}  {'bytes stored':>14}"]
        for name in names:
            loaded, stored = self.loaded[name], self.stored[name]
            lines.append(f"{name:{width}}  {loaded:14,}  {stored:14,}")
        lines.append(f"{'in all':{width}}  {self.bytes_loaded:14,}  {self.bytes_stored:14,}")
        return "\n".join(lines)


def measure(launcher: Callable[..., Any], *arguments: Any) -> Traffic:
    """Call `launcher(*arguments)` in the interpreter and count what its kernels load and store.

    Where kernels do not run in the interpreter, it says so and every count is 0. Programs run
    one by one, so use small tensors.
    """
    if not interpreting():
        print("Not measured: bytes are counted by the interpreter (TRITON_INTERPRET=1).")
        return Traffic(Counter(), Counter(), 0)
    from triton_util.interpreter import EngineOptions, interpret

    counter = _Counter()
    with interpret(EngineOptions(schedule="serial", track=False)) as run:
        run.watchers.append(counter)
        launcher(*arguments)
    traffic = Traffic(counter.loads, counter.stores, len(run.launches))
    if not traffic.total:
        print("Nothing was loaded or stored: is the kernel still a stub?")
    return traffic


class _Counter:
    """A watcher of the engine that adds up active lanes times bytes."""

    def __init__(self) -> None:
        self.loads: Counter[str] = Counter()
        self.stores: Counter[str] = Counter()

    def loaded(self, region: Any, plan: Any, pointer: Any) -> None:
        self.loads[region.name] += plan.lanes * region.item_bytes

    def stored(self, region: Any, plan: Any, parts: Any) -> None:
        self.stores[region.name] += plan.lanes * region.item_bytes

    def atomic(self, region: Any, offsets: Any, programs: Any, pointer: Any) -> None:
        self.loads[region.name] += offsets.size * region.item_bytes
        self.stores[region.name] += offsets.size * region.item_bytes

    def __getattr__(self, event: str) -> Callable[..., None]:
        """Every other event of the engine is of no interest here."""
        if event.startswith("__"):
            raise AttributeError(event)
        return lambda *_: None
