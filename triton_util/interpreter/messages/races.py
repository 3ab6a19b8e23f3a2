"""The base of a launch's reports, and the reports of races between programs and between lanes."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from triton_util.interpreter.faults import Fault
from triton_util.interpreter.state import SourceLines

if TYPE_CHECKING:
    from triton_util.interpreter.regions import Region

# More findings of one launch than this add no information.
MOST_NOTES = 200


class RaceReporter:
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
        """Drop the findings after the first `length`, because their batch was undone."""
        del self.faults[length:]
        self._seen = {(f.code, f.line, f.argument) for f in self.faults}

    def place(self) -> dict[str, object]:
        """The fields of a fault that say where the kernel is now."""
        filename, line, function = self.lines.current()
        return self.place_of(filename, line, function)

    def place_of(self, filename: str, line: int, function: str) -> dict[str, object]:
        """The same for a given place."""
        source = linecache.getline(filename, line).strip() if line else ""
        name = self.kernel if function in ("", self.kernel) else f"{self.kernel} (in {function})"
        return {"kernel": name, "filename": filename, "line": line, "source": source}

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
        """Note that two lanes of one store write different values to one element."""
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

    def lost_update(
        self, region: Region, offset: int, lanes: int, program: tuple[int, int, int]
    ) -> None:
        """Note that lanes of one program load an element, change it and store it."""
        self.note(
            Fault(
                code="lost-update",
                message=(
                    f"{lanes} lanes of program {program} load the same elements of "
                    f"{region.name!r}, change them and store them back, the first at offset "
                    f"{offset}: only one of their changes stays."
                ),
                program_id=program,
                operation="tl.store",
                argument=region.name,
                shape=region.shape,
                strides=region.strides,
                first_offset=offset,
                cause="Use tl.atomic_add, or give each lane an element of its own.",
                **self.place(),  # type: ignore[arg-type]
            )
        )

    def unordered_lanes(
        self,
        region: Region,
        offset: int,
        elements: int,
        program: tuple[int, int, int],
        stored_at: tuple[str, int, str],
    ) -> None:
        """Note that a lane reads what another lane of its program has just stored."""
        self.note(
            Fault(
                code="unordered-lanes",
                message=(
                    f"Program {program} loads offset {offset} of {region.name!r} in another lane "
                    f"than the one that stored it on line {stored_at[1]} ({elements} such "
                    "elements). Another thread may load it before it is stored."
                ),
                program_id=program,
                operation="tl.load",
                argument=region.name,
                shape=region.shape,
                strides=region.strides,
                first_offset=offset,
                cause=(
                    "Put tl.debug_barrier() between the store and the load, or exchange the "
                    "values without memory: tl.trans, tl.reshape, tl.gather."
                ),
                **self.place(),  # type: ignore[arg-type]
            )
        )
