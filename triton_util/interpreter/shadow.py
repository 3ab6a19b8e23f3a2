"""Shadow memory: who stored and who read each element."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .formats import Array

if TYPE_CHECKING:
    from .regions import Region
    from .session import Run


class Shadow:
    """Remembers for each element of each argument whether a kernel stored it."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._maps: list[tuple[Region, Array]] = []

    def launch_started(self, batch: Any, reporter: Any) -> None:
        """A launch begins."""

    def launch_ended(self) -> None:
        """A launch ended without a fault."""

    def batch_started(self) -> None:
        """A batch begins."""

    def batch_undone(self) -> None:
        """What the batch stored was taken back."""

    def loaded(self, region: Region, plan: Any, pointer: Any) -> None:
        """A load happened."""

    def storing(self, region: Region, plan: Any, parts: Any) -> None:
        """A store is about to happen."""

    def stored(self, region: Region, plan: Any, parts: Any) -> None:
        """A store happened."""
        flags = self._map(region)
        for piece, _ in parts:
            flags[region.slots(np.asarray(piece.offsets()))] = True

    def atomic(self, region: Region, offsets: Array, programs: Array, pointer: Any) -> None:
        """An atomic operation is about to happen."""
        self._map(region)[region.slots(offsets)] = True

    def _map(self, region: Region) -> Array:
        for known, flags in self._maps:
            if (known.address, known.shape, known.strides, known.item_bytes) == (
                region.address, region.shape, region.strides, region.item_bytes,
            ):
                return flags
        flags = np.zeros(region.slot_count(), bool)
        self._maps.append((region, flags))
        return flags

    def never_stored(self, out: torch.Tensor) -> Array:
        """True for the elements of the view that no kernel stored."""
        missing = np.ones(tuple(out.shape), bool)
        if out.numel() == 0:
            return missing
        places = np.zeros((), np.int64)
        for axis, (size, stride) in enumerate(zip(out.shape, out.stride(), strict=True)):
            shape = [1] * out.dim()
            shape[axis] = size
            places = places + (np.arange(size, dtype=np.int64) * stride).reshape(shape)
        addresses = places * out.element_size() + out.data_ptr()
        for region, flags in self._maps:
            offsets = (addresses - region.address) // region.item_bytes
            inside = region.contains(offsets)
            missing[inside] &= ~flags[region.slots(offsets[inside])]
        return missing

    @contextlib.contextmanager
    def fresh_memory(self) -> Iterator[None]:
        """Watch which tensors torch hands out uninitialised."""
        yield
