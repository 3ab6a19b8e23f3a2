"""How many programs of a compiled kernel fit on one processor at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from triton_util.hardware import REGISTER_UNIT, WARP, Architecture


@dataclass(frozen=True)
class Occupancy:
    """How many programs (and warps) fit on one processor at a time, and what limits them."""

    programs: int
    warps: int
    share: float  # fraction of the most warps that the processor can hold
    limited_by: str


def occupancy(target: Architecture, registers: int, shared_bytes: int, num_warps: int) -> Occupancy:
    """The occupancy of a kernel, from registers per thread, shared bytes per program, and warps."""
    per_warp = math.ceil(registers * WARP / REGISTER_UNIT) * REGISTER_UNIT
    limits = {
        "registers": target.registers // max(1, per_warp * num_warps),
        "threads": target.warps // num_warps,
        "the number of programs": target.programs,
    }
    if shared_bytes > target.shared_per_program:
        limits["shared memory"] = 0
    elif shared_bytes:
        limits["shared memory"] = target.shared_per_processor // (shared_bytes + target.reserved)
    limited_by = min(limits, key=lambda name: limits[name])
    programs = limits[limited_by]
    warps = programs * num_warps
    return Occupancy(programs, warps, warps / target.warps, limited_by)
