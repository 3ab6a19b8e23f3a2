"""How many 32-byte sectors the lanes of an access touch, warp by warp.

A GPU moves memory in sectors of 32 bytes.  A request of a warp is 32 consecutive lanes along the
axis with the smallest step, which is how Triton lays out a load.  The fewest sectors that could
carry the same bytes is bytes / 32, rounded up; the ratio of the two says how well the access
coalesces.
Storages are assumed to begin at a sector, as those of torch do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triton_util.interpreter.access import Lanes, Piece, Tile
from triton_util.interpreter.operations.formats import Array

if TYPE_CHECKING:
    from triton_util.interpreter.regions import Region

SECTOR_BYTES = 32
WARP_LANES = 32


def count_sectors(piece: Piece, region: Region) -> tuple[int, int]:
    """(sectors touched, requests) of one piece."""
    shift = region.address - region.storage
    if isinstance(piece, Lanes):
        return _lane_sectors(piece, region.item_bytes, shift)
    return _tile_sectors(piece, region.item_bytes, shift)


def _tile_sectors(piece: Tile, item: int, shift: int) -> tuple[int, int]:
    axes = _joined(piece)
    if not axes:
        return _lane_sectors(
            Lanes(..., piece.starts.reshape(1, -1), np.ones((1, piece.starts.size), bool)),
            item,
            shift,
        )
    length, step = axes[0]
    lanes = min(WARP_LANES, length)
    heads, times = piece.starts.reshape(-1), 1
    for size, stride in [(length // lanes, lanes * step), *axes[1:]]:
        if stride * item % SECTOR_BYTES == 0:
            times *= size  # at the same place within a sector, so the count is the same
        else:
            heads = (heads[:, None] + np.arange(size) * stride).reshape(-1)
    requests = int(heads.size) * times
    if step * item >= SECTOR_BYTES:
        return requests * lanes, requests
    first = heads * item + shift
    last = first + (lanes - 1) * step * item + item - 1
    sectors = last // SECTOR_BYTES - first // SECTOR_BYTES + 1
    return int(sectors.sum()) * times, requests


def _joined(piece: Tile) -> list[tuple[int, int]]:
    """(length, step) of the window axes, smallest step first, contiguous neighbours joined."""
    axes = sorted(((length, step) for _, length, step in piece.axes), key=lambda axis: axis[1])
    axes = [axis for axis in axes if axis[1] > 0] or axes[:1]
    joined: list[tuple[int, int]] = []
    for length, step in axes:
        if joined and step == joined[-1][0] * joined[-1][1]:
            joined[-1] = (joined[-1][0] * length, joined[-1][1])
        else:
            joined.append((length, step))
    return joined


def _lane_sectors(piece: Lanes, item: int, shift: int) -> tuple[int, int]:
    offsets, active = _fast_axis_last(piece.offsets_, piece.active)
    lanes = min(WARP_LANES, offsets.shape[-1])
    usable = offsets.shape[-1] // lanes * lanes
    sectors = (offsets[..., :usable] * item + shift) // SECTOR_BYTES
    groups = np.where(active[..., :usable], sectors, -1).reshape(-1, lanes)
    groups = np.sort(groups, axis=1)
    fresh = np.diff(groups, axis=1, prepend=-1) != 0
    used = (groups >= 0).any(axis=1)
    return int(np.count_nonzero(fresh)), int(np.count_nonzero(used))


def _fast_axis_last(offsets: Array, active: Array) -> tuple[Array, Array]:
    best, smallest = offsets.ndim - 1, None
    for axis in range(1, offsets.ndim):
        if offsets.shape[axis] > 1:
            step = float(np.abs(np.diff(offsets, axis=axis)).mean())
            if smallest is None or step < smallest:
                best, smallest = axis, step
    return np.moveaxis(offsets, best, -1), np.moveaxis(active, best, -1)
