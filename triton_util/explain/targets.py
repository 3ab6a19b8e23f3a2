"""What one processor of a GPU offers, and how many programs fit on it at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass

WARP = 32  # threads
REGISTERS = 65_536  # 32-bit registers of one processor, on all of these
MOST_REGISTERS = 255  # that one thread can have
REGISTER_UNIT = 256  # a warp's registers are handed out in such portions


@dataclass(frozen=True)
class Target:
    """Limits of one architecture. Shared memory in bytes; `reserved` is taken per program."""

    arch: int
    cards: str
    shared_per_program: int
    shared_per_processor: int
    reserved: int
    threads: int
    programs: int

    @property
    def name(self) -> str:
        return f"sm_{self.arch}"

    @property
    def warps(self) -> int:
        """The most warps that one processor holds at a time."""
        return self.threads // WARP


def _target(arch: int, cards: str, shared: int, threads: int, programs: int) -> Target:
    reserved = 1024 if arch >= 80 else 0
    kib = shared * 1024
    return Target(arch, cards, kib, kib + reserved, reserved, threads, programs)


TARGETS = {
    target.arch: target
    for target in (
        _target(75, "T4, RTX 20", 64, 1024, 16),
        _target(80, "A100", 163, 2048, 32),
        _target(86, "RTX 30", 99, 1536, 16),
        _target(89, "L4, RTX 40", 99, 1536, 24),
        _target(90, "H100, H200", 227, 2048, 32),
        _target(100, "B200", 227, 2048, 32),
    )
}


@dataclass(frozen=True)
class Occupancy:
    """How many programs (and warps) one processor holds at a time, and what limits them."""

    programs: int
    warps: int
    share: float  # of the warps that the processor can hold
    limited_by: str


def occupancy(target: Target, registers: int, shared_bytes: int, num_warps: int) -> Occupancy:
    """The residency of a kernel: registers per thread, shared bytes per program, its warps."""
    per_warp = math.ceil(registers * WARP / REGISTER_UNIT) * REGISTER_UNIT
    limits = {
        "registers": REGISTERS // max(1, per_warp * num_warps),
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
