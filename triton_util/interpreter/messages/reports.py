"""Describe a fault in sentences: which line, which program, which elements, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triton_util.interpreter.faults import Fault, KernelFault
from triton_util.interpreter.messages.races import RaceReporter
from triton_util.interpreter.operations.formats import Array

if TYPE_CHECKING:
    from triton_util.interpreter.operations.blocks import Block
    from triton_util.interpreter.regions import Region
    from triton_util.interpreter.state import Batch


class Reporter(RaceReporter):
    """Makes the faults of one launch."""

    def memory(
        self,
        code: str,
        operation: str,
        region: Region,
        offsets: Array,
        lanes: tuple[int, int],
        program: tuple[int, int, int],
    ) -> KernelFault:
        """A fault about lanes that are not elements of an argument."""
        low, high, first = int(offsets.min()), int(offsets.max()), int(offsets.flat[0])
        outside, active = lanes
        what = "in the gaps between the elements" if code.startswith("gap") else "outside"
        span = f"offset {first}" if low == high else f"offsets {low} to {high}, first {first}"
        message = (
            f"{operation} touches {outside} of {active} active lanes {what} of "
            f"{region.name!r} (shape {region.shape}, strides {region.strides}, valid offsets "
            f"0 to {region.extent - 1}): {span}, in program {program}."
        )
        return KernelFault(
            Fault(
                code=code,
                message=message,
                program_id=program,
                operation=operation,
                argument=region.name,
                shape=region.shape,
                strides=region.strides,
                lanes_outside=outside,
                lanes_active=active,
                first_offset=first,
                offset_range=(low, high),
                cause=_usual_cause(code, region, low, high),
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def overflow(self, operation: str, argument: str, program: tuple[int, int, int]) -> KernelFault:
        """A fault about an int32 offset that wrapped."""
        return KernelFault(
            Fault(
                code="offset-overflow",
                message=(
                    f"The offset that {operation} adds to {argument!r} passes 2**31 in program "
                    f"{program}: computed in int32 it wraps around and points elsewhere."
                ),
                program_id=program,
                operation=operation,
                argument=argument,
                cause=(
                    "Indices are int32 unless you say otherwise. Widen before multiplying: "
                    "row.to(tl.int64) * stride."
                ),
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def stray(self, operation: str, program: tuple[int, int, int], lanes: int) -> KernelFault:
        """A fault about pointers that are in no argument at all."""
        kind = operation.removeprefix("tl.")
        return KernelFault(
            Fault(
                code=f"out-of-bounds-{kind}",
                message=(
                    f"{operation} follows {lanes} pointers that lie in no tensor that is known, "
                    f"in program {program}."
                ),
                program_id=program,
                operation=operation,
                lanes_outside=lanes,
                cause=(
                    "Usual causes: the tensor whose address was taken is gone, or the address was "
                    "computed with the wrong size."
                ),
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def poison(self, program: tuple[int, int, int]) -> None:
        """Note that a stored value was computed from lanes that were never loaded."""
        self.note(
            Fault(
                code="masked-lanes-used",
                message=(
                    "A value stored here was computed from lanes that a masked tl.load left "
                    f"out, in program {program}: on a GPU those lanes hold anything."
                ),
                program_id=program,
                operation="tl.store",
                cause=(
                    "Give tl.load an `other` that does not change the result: 0 for sums, "
                    "-float('inf') for maxima; or drop the lanes with tl.where."
                ),
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def gather(self, index: Block, outside: Array, length: int, batch: Batch) -> KernelFault:
        """A fault about a lane whose tl.gather index is outside its block."""
        at = np.unravel_index(int(outside.argmax()), outside.shape)
        program = batch.program_id(int(at[0]))
        wanted = int(np.broadcast_to(index.data, outside.shape)[at])
        return KernelFault(
            Fault(
                code="out-of-bounds-gather",
                message=(
                    f"tl.gather asks for lane {wanted} of a block that has {length} along this "
                    f"axis, in program {program}. A GPU reads whatever is there."
                ),
                program_id=program,
                operation="tl.gather",
                lanes_outside=int(outside.sum()),
                first_offset=wanted,
                cause=(
                    "The index of each lane must lie in the block, also that of a lane which is "
                    "masked off later: use tl.where(index < BLOCK, index, 0)."
                ),
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def waiting(
        self, program: tuple[int, int, int], rounds: int, left: int, place: tuple[str, int, str]
    ) -> KernelFault:
        """A fault about a loop that waits for an event that never comes."""
        later = (
            f"{left} programs of the launch have not started, and a GPU may start them only when "
            "this one has ended"
            if left
            else "all other programs have ended, and nothing else can change it"
        )
        return KernelFault(
            Fault(
                code="waits-forever",
                message=(
                    f"Program {program} waits in this loop: it has seen the same value {rounds:,} "
                    f"times. {later[0].upper()}{later[1:]}."
                ),
                program_id=program,
                operation="while",
                cause=(
                    "A program may wait only for programs that are certain to have started. Take "
                    "the number of the program from a counter (tl.atomic_add), or split the work "
                    "into two launches."
                ),
                **self.place_of(*place),  # type: ignore[arg-type]
            )
        )

    def undefined_conversion(self, dtype: str, value: float, at: tuple[int, int, int]) -> None:
        """Note that a stored number cannot be represented by its integer dtype."""
        self.note(
            Fault(
                code="undefined-conversion",
                message=(
                    f"{value} was converted to {dtype}, which cannot hold it, and stored, in "
                    f"program {at}. The result of such a conversion is not defined."
                ),
                program_id=at,
                operation="tl.store",
                cause="Bring the number into the range first: tl.clamp, or tl.where for NaN.",
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def uninitialised(
        self,
        region: Region,
        offset: int,
        elements: int,
        program: tuple[int, int, int],
        operation: str,
    ) -> None:
        """Note a read of memory from torch.empty that was never written."""
        self.note(
            Fault(
                code="uninitialised-read",
                message=(
                    f"{operation} reads {elements} elements of {region.name!r} that nobody has "
                    f"written, first offset {offset}, in program {program}: the tensor comes from "
                    "torch.empty and holds whatever was there."
                ),
                program_id=program,
                operation=operation,
                argument=region.name,
                shape=region.shape,
                strides=region.strides,
                first_offset=offset,
                cause="Allocate with torch.zeros, or store there first.",
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def assertion(self, text: str, program: tuple[int, int, int]) -> KernelFault:
        """A fault about a tl.device_assert or tl.assume whose condition is false."""
        return KernelFault(
            Fault(
                code="device-assert",
                message=f"Assertion failed in program {program}: {text}",
                program_id=program,
                operation="tl.device_assert",
                cause="The kernel itself claims that this always holds.",
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def untrue_hint(self, hint: str, text: str, program: tuple[int, int, int]) -> KernelFault:
        """A fault about a hint to the compiler that is not true."""
        return KernelFault(
            Fault(
                code="untrue-hint",
                message=f"{hint} is not true in program {program}: {text}.",
                program_id=program,
                operation=hint,
                cause=(
                    "The compiler believes it and takes wide loads and stores for it, which a GPU "
                    "refuses at such an address, or which move lanes that a mask excludes."
                ),
                **self.place(),  # type: ignore[arg-type]
            )
        )


def _usual_cause(code: str, region: Region, low: int, high: int) -> str:
    if region.elements == 0:
        return "The tensor is empty: no lane may be active. Is the mask missing?"
    if code.startswith("gap"):
        return (
            "The tensor is a view with gaps (a slice or a transpose). Usual cause: offsets assume "
            "that rows lie directly behind each other. Multiply the row index by the stride that "
            "the launcher passes, not by the width."
        )
    if low < 0:
        return (
            "Offsets below zero lie before the tensor. Usual causes: subtracting too much, "
            "or a negative index."
        )
    if high < 2 * region.extent + 4096:
        return (
            "Usual causes: the last block has no mask, the mask compares with the wrong length, "
            "or an offset is multiplied by the wrong stride or block size."
        )
    return (
        "The offsets are far away. Usual causes: the program id multiplied by the wrong size, "
        "a stride applied twice, or a byte offset used as an element offset."
    )
