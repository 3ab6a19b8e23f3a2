"""Turning what went wrong into sentences: which line, which program, which elements, and why."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from triton_util.interpreter.faults import Fault, KernelFault
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.state import SourceLines

if TYPE_CHECKING:
    from triton_util.interpreter.regions import Region

# More findings of one launch than this say nothing new.
MOST_NOTES = 200


class Reporter:
    """Makes the faults of one launch; `faults` collects those that do not stop the kernel."""

    def __init__(self, kernel: str, lines: SourceLines, faults: list[Fault]) -> None:
        self.kernel = kernel
        self.lines = lines
        self.faults = faults
        self._seen: set[tuple[str, int, str]] = set()

    def note(self, fault: Fault) -> None:
        """Add a finding, once per code, line and argument."""
        key = (fault.code, fault.line, fault.argument)
        if key not in self._seen and len(self._seen) < MOST_NOTES:
            self._seen.add(key)
            self.faults.append(fault)

    def forget(self, length: int) -> None:
        """Drop the findings after the first `length`: their batch was undone."""
        del self.faults[length:]
        self._seen = {(f.code, f.line, f.argument) for f in self.faults}

    def place(self) -> dict[str, object]:
        """The fields of a fault that tell where the kernel is."""
        filename, line, function = self.lines.current()
        return self.place_of(filename, line, function)

    def place_of(self, filename: str, line: int, function: str) -> dict[str, object]:
        """The same for a place that is known."""
        source = linecache.getline(filename, line).strip() if line else ""
        name = self.kernel if function in ("", self.kernel) else f"{self.kernel} (in {function})"
        return {"kernel": name, "filename": filename, "line": line, "source": source}

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
        """A fault about pointers that lie in no argument at all."""
        kind = operation.removeprefix("tl.")
        return KernelFault(
            Fault(
                code=f"out-of-bounds-{kind}",
                message=(
                    f"{operation} follows {lanes} pointers that lie in none of the kernel's "
                    f"arguments, in program {program}."
                ),
                program_id=program,
                operation=operation,
                lanes_outside=lanes,
                cause="A pointer made from an integer must still point into an argument.",
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

    def write_race(
        self,
        region: Region,
        offset: int,
        elements: int,
        program: tuple[int, int, int] | None,
        other: tuple[int, int, int] | None,
    ) -> None:
        """Note that two programs store different values to one element."""
        who = "an atomic operation" if other is None else f"program {other}"
        self.note(
            Fault(
                code="write-race",
                message=(
                    f"Program {program} and {who} store different values to offset {offset} of "
                    f"{region.name!r} ({elements} such elements found here): the result depends "
                    "on which one comes last, and on a GPU that is chance."
                ),
                program_id=program,
                operation="tl.store",
                argument=region.name,
                shape=region.shape,
                strides=region.strides,
                first_offset=offset,
                cause=(
                    "Usual causes: the offset does not depend on the program id, blocks overlap, "
                    "or a sum over programs is stored instead of tl.atomic_add."
                ),
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def lane_race(
        self,
        region: Region,
        offset: int,
        elements: int,
        program: tuple[int, int, int] | None,
    ) -> None:
        """Note that two lanes of one store put different values into one element."""
        self.note(
            Fault(
                code="lane-race",
                message=(
                    f"Two lanes of one tl.store in program {program} put different values into "
                    f"offset {offset} of {region.name!r} ({elements} such elements found here): "
                    "lanes store at the same time, and on a GPU it is chance which value stays."
                ),
                program_id=program,
                operation="tl.store",
                argument=region.name,
                shape=region.shape,
                strides=region.strides,
                first_offset=offset,
                cause=(
                    "Usual causes: a stride that is zero or too small, offsets divided or taken "
                    "modulo something, or a whole block stored where its tl.sum was meant."
                ),
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def read_race(
        self,
        region: Region | None,
        offset: int,
        elements: int,
        writer: tuple[int, int, int] | None,
        place: tuple[str, int, str],
    ) -> None:
        """Note that a program reads what another program of the same launch stores."""
        name = region.name if region is not None else ""
        who = "an atomic operation of another program" if writer is None else f"program {writer}"
        self.note(
            Fault(
                code="read-write-race",
                message=(
                    f"Offset {offset} of {name!r} is read here, and {who} stores to it in the same "
                    f"launch ({elements} such elements): whether the read sees the old or the new "
                    "value is chance."
                ),
                program_id=writer,
                operation="tl.load",
                argument=name,
                shape=region.shape if region is not None else (),
                strides=region.strides if region is not None else (),
                first_offset=offset,
                cause=(
                    "Programs of one launch run in any order and at the same time. Write to "
                    "another tensor, or split the work into two launches."
                ),
                **self.place_of(*place),  # type: ignore[arg-type]
            )
        )

    def uninitialised(
        self, region: Region, offset: int, elements: int, program: tuple[int, int, int]
    ) -> None:
        """Note a read of memory from torch.empty that nobody has written."""
        self.note(
            Fault(
                code="uninitialised-read",
                message=(
                    f"tl.load reads {elements} elements of {region.name!r} that nobody has "
                    f"written, first offset {offset}, in program {program}: the tensor comes from "
                    "torch.empty and holds whatever was there."
                ),
                program_id=program,
                operation="tl.load",
                argument=region.name,
                shape=region.shape,
                strides=region.strides,
                first_offset=offset,
                cause="Allocate with torch.zeros, or store before you load.",
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def assertion(self, text: str, program: tuple[int, int, int]) -> KernelFault:
        """A fault about a tl.device_assert or tl.assume that does not hold."""
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
        """A fault about something that the compiler is told, and that is not so."""
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
