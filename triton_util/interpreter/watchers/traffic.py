"""Traffic: the bytes that a launch moves, how often it moves them again, and how efficiently."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_util.interpreter.access import Lanes, Piece, Plan
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.watchers import l2
from triton_util.interpreter.watchers.coverage import Coverage
from triton_util.interpreter.watchers.sectors import SECTOR_BYTES, count_sectors

if TYPE_CHECKING:
    from triton_util.interpreter.messages.reports import Reporter
    from triton_util.interpreter.regions import Region
    from triton_util.interpreter.state import Batch


@dataclass
class ArgumentTraffic:
    """The traffic between the programs of one launch and one argument, in bytes.

    loaded, stored, atomic: of active lanes, over all programs.
    distinct_loaded, distinct_stored: of distinct elements.
    lanes, active_lanes: of all accesses.  sectors, requests: of 32 bytes, and of a warp.
    """

    loaded: int = 0
    stored: int = 0
    atomic: int = 0
    distinct_loaded: int = 0
    distinct_stored: int = 0
    lanes: int = 0
    active_lanes: int = 0
    sectors: int = 0
    requests: int = 0

    @property
    def reread(self) -> float:
        """How often each element is loaded, on average; 0 without loads."""
        return self.loaded / self.distinct_loaded if self.distinct_loaded else 0.0

    @property
    def masked_ratio(self) -> float:
        """Fraction of lanes that are masked off, 0 to 1."""
        return 1 - self.active_lanes / self.lanes if self.lanes else 0.0

    @property
    def coalescing(self) -> float:
        """Fewest possible sectors divided by sectors touched; 1 is perfect."""
        fewest = -(-(self.loaded + self.stored) // SECTOR_BYTES)
        return fewest / self.sectors if self.sectors else 1.0


@dataclass
class Traffic:
    """The traffic and the arithmetic of one launch.

    flops: operations by kind: arithmetic, special (exp and the like), reduction, dot.
    """

    arguments: dict[str, ArgumentTraffic] = field(default_factory=dict)
    flops: dict[str, int] = field(default_factory=dict)
    block_loads: list[l2.BlockLoads] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Bytes loaded and stored by all programs, ignoring caches."""
        return sum(a.loaded + a.stored + a.atomic for a in self.arguments.values())

    @property
    def distinct_bytes(self) -> int:
        """Bytes that have to cross the memory bus at least once in each direction."""
        return sum(a.distinct_loaded + a.distinct_stored for a in self.arguments.values())

    @property
    def intensity(self) -> float:
        """Floating-point operations per byte loaded and stored."""
        return sum(self.flops.values()) / self.bytes if self.bytes else 0.0

    @property
    def distinct_intensity(self) -> float:
        """Floating-point operations per distinct byte: the intensity with a perfect cache."""
        return sum(self.flops.values()) / self.distinct_bytes if self.distinct_bytes else 0.0

    def l2(self, capacity_bytes: int, concurrency: int = 1) -> l2.CacheUse:
        """The block loads sent through an LRU cache of this size."""
        return l2.simulate(self.block_loads, capacity_bytes, concurrency)

    def distinct_blocks(self, programs: int) -> int:
        """How many distinct blocks the first programs load."""
        return l2.distinct_blocks(self.block_loads, programs)

    def first_blocks(self) -> dict[str, Array]:
        """For each argument the block that each program loads first, in launch order."""
        return l2.first_blocks(self.block_loads)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain JSON-ready values, without the single block loads."""
        rows = {
            name: {
                **asdict(a),
                "reread": a.reread,
                "masked_ratio": a.masked_ratio,
                "coalescing": a.coalescing,
            }
            for name, a in self.arguments.items()
        }
        return {
            "arguments": rows,
            "flops": dict(self.flops),
            "bytes": self.bytes,
            "distinct_bytes": self.distinct_bytes,
            "intensity": self.intensity,
            "distinct_intensity": self.distinct_intensity,
        }

    def table(self) -> str:
        """The figures as lines of text."""
        head = f"{'argument':<14}{'loaded':>12}{'stored':>12}"
        head += f"{'re-read':>9}{'masked':>8}{'coalesced':>11}"
        lines = [head]
        for name, a in self.arguments.items():
            lines.append(
                f"{name:<14}{a.loaded:>12}{a.stored + a.atomic:>12}{a.reread:>9.2f}"
                f"{a.masked_ratio:>8.1%}{a.coalescing:>11.1%}"
            )
        lines.append(f"{sum(self.flops.values())} operations, {self.intensity:.3f} per byte")
        return "\n".join(lines)


class TrafficWatcher:
    """Counts while a launch runs; `traffic` is the record of the running launch."""

    def launch_started(self, batch: Batch, reporter: Reporter) -> None:
        """A launch begins."""
        self.batch = batch
        self.traffic = Traffic({region.name: ArgumentTraffic() for region in batch.regions})
        self._item_bytes = {region.name: region.item_bytes for region in batch.regions}
        self._touched: dict[tuple[str, str], Coverage] = {}
        self._saved: Any = None

    def launch_ended(self) -> None:
        """Count the distinct elements that were touched."""
        for (kind, name), coverage in self._touched.items():
            size = coverage.elements() * self._item_bytes[name]
            setattr(self.traffic.arguments[name], f"distinct_{kind}", size)

    def batch_started(self) -> None:
        """Remember the counts, in case the batch is undone."""
        rows = {name: replace(a) for name, a in self.traffic.arguments.items()}
        touched = {key: coverage.copy() for key, coverage in self._touched.items()}
        self._saved = (rows, len(self.traffic.block_loads), touched)

    def batch_undone(self) -> None:
        """Restore the counts from before the batch."""
        rows, loads, self._touched = self._saved
        self.traffic.arguments = rows
        del self.traffic.block_loads[loads:]

    def loaded(self, region: Region, plan: Plan, pointer: Any) -> None:
        """Count a load; lanes that all programs share count once per program."""
        row = self._row(region)
        times = self._times(plan)
        mixed = "mixed" in pointer.attr
        lanes = plan.lanes * times if mixed else self._active_programs() * _lanes(pointer.shape)
        self._count(row, region, plan, lanes, times)
        row.loaded += plan.lanes * times * region.item_bytes
        for piece in plan.pieces:
            self._touched.setdefault(("loaded", region.name), Coverage()).add(piece)
            self._note_blocks(region, piece, plan)

    def storing(self, region: Region, plan: Plan, parts: Any) -> None:
        """Do nothing: a store is counted after it happened."""

    def stored(self, region: Region, plan: Plan, parts: Any) -> None:
        """Count a store."""
        row = self._row(region)
        self._count(row, region, plan, self._active_programs() * _lanes(plan.shape[1:]), 1)
        row.stored += plan.lanes * region.item_bytes
        for piece in plan.pieces:
            self._touched.setdefault(("stored", region.name), Coverage()).add(piece)

    def atomic(
        self, region: Region, offsets: Array, programs: Array, pointer: Any, _ordering: Any
    ) -> None:
        """Count an atomic operation, which reads and writes."""
        row = self._row(region)
        row.atomic += 2 * offsets.size * region.item_bytes
        row.active_lanes += offsets.size
        row.lanes += self._active_programs() * _lanes(pointer.shape)

    def _row(self, region: Region) -> ArgumentTraffic:
        self._item_bytes.setdefault(region.name, region.item_bytes)  # memory behind a pointer
        return self.traffic.arguments.setdefault(region.name, ArgumentTraffic())

    def _active_programs(self) -> int:
        active = self.batch.active
        return self.batch.programs if active is None else int(np.count_nonzero(active))

    def _times(self, plan: Plan) -> int:
        return 1 if plan.shape[0] == self.batch.programs else self._active_programs()

    def _count(
        self, row: ArgumentTraffic, region: Region, plan: Plan, lanes: int, times: int
    ) -> None:
        row.lanes += lanes
        row.active_lanes += plan.lanes * times
        for piece in plan.pieces:
            sectors, requests = count_sectors(piece, region)
            row.sectors += sectors * times
            row.requests += requests * times

    def _note_blocks(self, region: Region, piece: Piece, plan: Plan) -> None:
        if isinstance(piece, Lanes):
            flat = np.where(piece.active, piece.offsets_, np.iinfo(np.int64).max)
            first = flat.reshape(len(flat), -1).min(axis=1)
            lanes = piece.active.reshape(len(flat), -1).sum(axis=1)
        else:
            first = piece.starts.reshape(len(piece.starts), -1).min(axis=1)
            lanes = np.full(len(first), piece.lanes // max(1, len(first)))
        programs = self.batch.linear
        if plan.shape[0] != self.batch.programs:
            active = self.batch.active
            programs = programs if active is None else programs[active]
            first = np.broadcast_to(first, programs.shape)
            lanes = np.broadcast_to(lanes, programs.shape)
        elif not isinstance(piece.where, type(Ellipsis)):
            programs = programs[piece.where[0]]
        loads = l2.BlockLoads(region.name, programs, first, lanes * region.item_bytes)
        self.traffic.block_loads.append(loads)


def _lanes(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
