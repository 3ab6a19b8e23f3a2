"""The options of a run of the interpreter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Schedule = Literal["grid", "serial", "reversed", "shuffled"]


@dataclass(frozen=True)
class EngineOptions:
    """How kernels run, and what is watched while they run.

    schedule
    "grid" runs many programs at once (and falls back to one by one where necessary);
    "serial", "reversed" and "shuffled" run one program after another in launch order (the
    first grid axis fastest, as the hardware does), backwards, or in an order drawn from `seed`.
    memory_bytes
    limit for the temporary blocks of one launch, in bytes.
    check_memory
    stop every access outside the argument that its pointer came from.  Without it accesses
    are still clipped to memory that the argument owns; only the explanation is missing.
    track
    record which program stored and which read each element: `Run.never_stored`, races,
    uninitialised reads.
    traffic
    count bytes, sectors and arithmetic for `Launch.traffic`.
    poison_masked
    give the lanes of a masked load without `other` NaN or an absurd integer instead of 0,
    because on a GPU their value is arbitrary.
    tf32
    truncate the float32 operands of `tl.dot` to TF32, as tensor cores do, wherever the kernel
    permits it.
    programs
    record what each program of the last launch points at, for `Run.programs`.
    within_programs
    compare the lanes of one program with one another: what one of them stores, another reads
    without a barrier in between.
    """

    schedule: Schedule = "grid"
    seed: int = 0
    memory_bytes: int = 1 << 30
    check_memory: bool = True
    track: bool = True
    traffic: bool = False
    poison_masked: bool = True
    tf32: bool = False
    programs: bool = False
    within_programs: bool = False

    def __post_init__(self) -> None:
        if self.schedule not in get_args(Schedule):
            known = ", ".join(get_args(Schedule))
            raise ValueError(f"schedule {self.schedule!r} is not one of {known}")
        if self.memory_bytes < 1 << 20:
            raise ValueError("memory_bytes must be at least 1 MiB")
