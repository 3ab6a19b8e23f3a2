"""Shadow cells: for each element of the watched memory, which program stored it last.

A cell contains 0 for "never stored", else a *tag*.  Tags grow from launch to launch, so one array
says both whether an element was ever stored and by which program of the running launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from triton_util.interpreter.access import Lanes, Piece
from triton_util.interpreter.operations.formats import Array

if TYPE_CHECKING:
    from triton_util.interpreter.regions import Region


class Cells:
    """Tags for a stretch of memory; `low` and `high` are addresses in bytes."""

    def __init__(self, low: int, high: int, item_bytes: int, count: int) -> None:
        self.low = low
        self.high = high
        self.item_bytes = item_bytes
        self.tags: Array = np.zeros(count, np.int32)
        # The range of addresses that the running launch has stored so far.
        self.launch_range: tuple[int, int] | None = None

    @property
    def stored_in_launch(self) -> bool:
        """Whether the running launch has stored anything here."""
        return self.launch_range is not None

    def grown(self, low: int, high: int) -> None:
        """Extend the stretch to include [low, high)."""
        low, high = min(low, self.low), max(high, self.high)
        tags = np.zeros((high - low) // self.item_bytes, np.int32)
        start = (self.low - low) // self.item_bytes
        tags[start : start + len(self.tags)] = self.tags
        self.low, self.high, self.tags = low, high, tags


class Window:
    """The cells of one region, addressed by the region's own offsets."""

    def __init__(self, cells: Cells, region: Region, direct: bool) -> None:
        self.cells = cells
        self.region = region
        self.direct = direct

    def _flat(self, values: Array) -> Array:
        if not self.direct:
            return values
        start = (self.region.address - self.cells.low) // self.cells.item_bytes
        return values[start : start + self.region.extent]

    def piece(self, piece: Piece) -> Piece:
        """The piece in terms of `flat`."""
        if self.direct:
            return piece
        if isinstance(piece, Lanes):
            safe = np.where(piece.active, piece.offsets_, 0)
            return Lanes(piece.where, self.region.slots(safe), piece.active)
        offsets = piece.offsets()
        return Lanes(piece.where, self.region.slots(offsets), np.ones(offsets.shape, bool))

    def read(self, piece: Piece, values: Array | None = None) -> Array:
        """The tags (or other values of the same layout) of the lanes of a piece."""
        flat = self._flat(self.cells.tags if values is None else values)
        return self.piece(piece).read(flat)

    def write(self, piece: Piece, tags: Array, values: Array | None = None) -> None:
        """Set the tags of the lanes of a piece."""
        flat = self._flat(self.cells.tags if values is None else values)
        self.piece(piece).write(flat, tags)

    def is_apart(self, piece: Piece) -> bool:
        """Whether all lanes are before or after everything that the launch has stored here."""
        if self.cells.launch_range is None:
            return True
        low, high = self._addresses(piece)
        first, last = self.cells.launch_range
        return high <= first or low >= last

    def extend(self, piece: Piece) -> None:
        """Note that the launch stores these lanes."""
        low, high = self._addresses(piece)
        known = self.cells.launch_range or (low, high)
        self.cells.launch_range = (min(low, known[0]), max(high, known[1]))

    def _addresses(self, piece: Piece) -> tuple[int, int]:
        low, high = piece.ends()
        item, base = self.region.item_bytes, self.region.address
        return base + low * item, base + (high + 1) * item

    def at(self, offsets: Array) -> Array:
        """Indices into `cells.tags` for single offsets."""
        if not self.direct:
            return self.region.slots(offsets)
        start = (self.region.address - self.cells.low) // self.cells.item_bytes
        return offsets + start


class CellStore:
    """All the cells of a run, found by region."""

    def __init__(self) -> None:
        self._stretches: dict[tuple[int, int], list[Cells]] = {}
        self._scattered: dict[Any, tuple[Cells, Region]] = {}

    def window(self, region: Region) -> Window:
        """The cells of a region, made on first use."""
        if not region.compact and region.nested:
            key = (region.address, region.shape, region.strides, region.item_bytes)
            if key not in self._scattered:
                end = region.address + region.extent * region.item_bytes
                slots = region.slot_count()
                made = Cells(region.address, end, region.item_bytes, slots)
                self._scattered[key] = (made, region)
            return Window(self._scattered[key][0], region, direct=False)
        return Window(self._stretch(region), region, direct=True)

    def _stretch(self, region: Region) -> Cells:
        low = region.address
        high = low + region.extent * region.item_bytes
        known = self._stretches.setdefault((region.storage, region.item_bytes), [])
        for cells in known:
            if cells.low <= low and high <= cells.high:
                return cells
        for cells in known:
            union = max(high, cells.high) - min(low, cells.low)
            if union <= 2 * (high - low + cells.high - cells.low) + (1 << 20):
                cells.grown(low, high)
                return cells
        made = Cells(low, high, region.item_bytes, region.extent)
        known.append(made)
        return made

    def stored_at(self, addresses: Array) -> Array:
        """Which byte addresses are in an element that a kernel has stored."""
        found = np.zeros(addresses.shape, bool)
        for stretches in self._stretches.values():
            for cells in stretches:
                inside = (addresses >= cells.low) & (addresses < cells.high)
                if inside.any():
                    index = (addresses[inside] - cells.low) // cells.item_bytes
                    found[inside] |= cells.tags[index] != 0
        for cells, region in self._scattered.values():
            offsets = (addresses - region.address) // region.item_bytes
            inside = region.contains(offsets)
            if inside.any():
                found[inside] |= cells.tags[region.slots(offsets[inside])] != 0
        return found

    def touches(self, low: int, high: int) -> bool:
        """Whether anything between these addresses is watched."""
        return any(cells.low < high and low < cells.high for cells in self.everything())

    def forget(self, addresses: Array) -> None:
        """Mark the elements at these byte addresses as never stored."""
        for stretches in self._stretches.values():
            for cells in stretches:
                inside = (addresses >= cells.low) & (addresses < cells.high)
                cells.tags[(addresses[inside] - cells.low) // cells.item_bytes] = 0
        for cells, region in self._scattered.values():
            offsets = (addresses - region.address) // region.item_bytes
            inside = region.contains(offsets)
            cells.tags[region.slots(offsets[inside])] = 0

    def finest(self, item_bytes: int) -> int:
        """The size of the smallest elements that were stored separately, at most `item_bytes`."""
        return min([item_bytes, *(cells.item_bytes for cells in self.everything())])

    def addresses_of(self, view: torch.Tensor) -> Iterator[Array]:
        """The address of each element, and of each part of it that can be stored separately."""
        places = np.zeros((1,) * view.dim(), np.int64)
        for axis, (size, stride) in enumerate(zip(view.shape, view.stride(), strict=True)):
            shape = [1] * view.dim()
            shape[axis] = size
            places = places + (np.arange(size, dtype=np.int64) * stride).reshape(shape)
        item = view.element_size()
        first = places * item + view.data_ptr()
        for part in range(0, item, self.finest(item)):
            yield first + part

    def everything(self) -> list[Cells]:
        """All cells, in no particular order."""
        stretches = [cells for group in self._stretches.values() for cells in group]
        return stretches + [cells for cells, _ in self._scattered.values()]
