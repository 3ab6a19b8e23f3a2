"""The facts about a compiled kernel, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_util.explain.occupancy import Occupancy, occupancy
from triton_util.explain.ptx import LineFacts, total
from triton_util.hardware import Architecture


@dataclass(frozen=True)
class Made:
    """One specialisation of a kernel for one target.

    `registers` per thread; `shared_bytes` per program; spills in bytes per thread, as ptxas
    reports them. `lines` maps source lines to their instructions; line 0 has those of no line.
    """

    kernel: str
    target: Architecture
    line: int
    constants: Mapping[str, str]
    arguments: Mapping[str, str]
    error: str = ""
    ptx: str = ""
    num_warps: int = 0
    num_stages: int = 0
    registers: int = 0
    shared_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    lines: Mapping[int, LineFacts] | None = None

    @property
    def fits(self) -> bool:
        """Whether a program's shared memory fits the limit of the target."""
        return not self.error and self.shared_bytes <= self.target.shared_per_program

    @property
    def occupancy(self) -> Occupancy:
        return occupancy(self.target, self.registers, self.shared_bytes, self.num_warps)

    @property
    def total(self) -> LineFacts:
        """The facts of all lines together."""
        return total(self.lines or {})

    @property
    def label(self) -> str:
        """The kernel with its constants: `add_kernel (BLOCK_SIZE=1024, 4 warps)`."""
        parts = [f"{name}={value}" for name, value in self.constants.items()]
        parts += [f"{self.num_warps} warps"] if self.num_warps else []
        return f"{self.kernel} ({', '.join(parts)})" if parts else self.kernel


@dataclass(frozen=True)
class Explained:
    """What `explain` found.

    `made` has one entry for each specialisation and target, in the order of the launches.
    """

    name: str
    source: tuple[str, ...]  # the lines that were compiled, from line 1
    places: tuple[str, ...]  # where the learner wrote each of them; "" where unknown
    made: tuple[Made, ...]
    left_out: int = 0  # further specialisations that were not compiled

    def line(self, number: int) -> str:
        """The text of a line of the source."""
        return self.source[number - 1] if 1 <= number <= len(self.source) else ""

    def for_target(self, arch: int) -> tuple[Made, ...]:
        """The entries for one architecture, such as 90."""
        return tuple(made for made in self.made if made.target.arch == arch)
