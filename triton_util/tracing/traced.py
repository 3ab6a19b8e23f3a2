"""A traced launch as plain data: every access of every program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from triton_util.interpreter.watchers.traffic import Traffic

Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Argument:
    """One tensor argument as the kernel saw it; strides in elements."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item_bytes: int

    def indices(self, offsets: Offsets) -> Offsets:
        """(lanes, axes): the index of each offset, which must be that of an element of the view.

        If strides overlap or are 0, this is the first index that fits.
        """
        order = sorted(range(len(self.shape)), key=lambda axis: -self.strides[axis])
        left = offsets.copy()
        found = np.zeros((offsets.size, len(self.shape)), np.int64)
        for axis in order:
            if self.strides[axis] > 0 and self.shape[axis] > 1:
                found[:, axis] = np.minimum(left // self.strides[axis], self.shape[axis] - 1)
                left -= found[:, axis] * self.strides[axis]
        return found


@dataclass(frozen=True)
class Touch:
    """One load, store or atomic operation of one program.

    offsets: elements from the argument's first, one for each active lane. lanes: the number of
    lanes of the block, including masked-off ones. line: in `file`.
    """

    operation: str
    argument: str
    offsets: Offsets
    lanes: int
    line: int = 0
    code: str = ""


@dataclass
class Traced:
    """A traced launch.

    grid: (x, y, z). programs: the accesses of each program, in launch order (axis 0 fastest).
    truncated: programs with too many accesses to record them all. traffic: the engine's counts,
    which ignore caches; it has `.arguments`, `.flops`, `.intensity`, `.distinct_intensity` and
    `.l2(capacity_bytes, concurrency)`.
    """

    kernel: str
    grid: tuple[int, int, int]
    meta: Mapping[str, Any]
    arguments: Mapping[str, Argument]
    programs: Sequence[Sequence[Touch]]
    traffic: Traffic
    truncated: int = 0
    result: Any = None

    def program_id(self, program: int) -> tuple[int, int, int]:
        """(x, y, z) of the program with this launch number."""
        x, y, _ = self.grid
        return program % x, program // x % y, program // (x * y)

    @property
    def operations(self) -> int:
        """Floating-point operations of all kinds."""
        return sum(self.traffic.flops.values())

    def tiles(self) -> Offsets | None:
        """(programs, 2): row and column of the tile that each program stored first.

        The unit is tiles, not elements. None unless each program stores one tile of the same 2D
        argument.
        """
        corners = []
        names = set()
        for touches in self.programs:
            stores = [item for item in touches if item.operation == "store" and item.offsets.size]
            if not stores or len(self.arguments[stores[0].argument].shape) != 2:
                return None
            names.add(stores[0].argument)
            argument = self.arguments[stores[0].argument]
            corners.append(argument.indices(stores[0].offsets).min(axis=0))
        if len(names) != 1:
            return None
        found = np.array(corners)
        for axis in range(2):
            found[:, axis] = np.unique(found[:, axis], return_inverse=True)[1]
        return found if len(np.unique(found, axis=0)) == len(found) else None
