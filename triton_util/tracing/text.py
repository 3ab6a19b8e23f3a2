"""A trace as text: for terminals, screen readers and tests."""

from __future__ import annotations

from triton_util.tracing.traced import Argument, Touch, Traced

VERBS = {"load": "loads", "store": "stores", "atomic": "updates"}


def record_text(record: Traced) -> str:
    """The launch, the traffic table, the intensity, and the steps of program 0."""
    grid = " × ".join(str(size) for size in _grid(record))
    lines = [f"{record.kernel} on a grid of {grid}: {len(record.programs)} programs"]
    if record.meta:
        lines.append("  " + ", ".join(f"{name}={value}" for name, value in record.meta.items()))
    lines += ["", traffic_text(record), f"  ({COALESCED})", "", intensity_text(record)]
    if record.programs:
        lines += ["", steps_text(record, 0)]
    if record.truncated:
        lines.append(f"(some steps of {record.truncated} programs were too many to keep)")
    return "\n".join(lines)


def traffic_text(record: Traced) -> str:
    """The traffic table: one line for each argument."""
    rows = [TRAFFIC_COLUMNS, *traffic_rows(record)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


TRAFFIC_COLUMNS = (
    "argument", "loaded", "stored", "distinct", "re-read", "lanes masked off", "coalesced",
)  # fmt: skip


def traffic_rows(record: Traced) -> list[tuple[str, ...]]:
    """The cells of the traffic table.

    Bytes; how often each byte was loaded; the fraction of masked-off lanes; the fewest possible
    memory sectors divided by the sectors that were touched.
    """
    return [
        (
            name,
            f"{row.loaded:,} B",
            f"{row.stored + row.atomic:,} B",
            f"{row.distinct_loaded or row.distinct_stored:,} B",
            f"×{row.reread:.3g}" if row.loaded else "–",
            f"{row.masked_ratio:.1%}",
            f"{row.coalescing:.1%}" if row.sectors else "–",
        )
        for name, row in record.traffic.arguments.items()
    ]


def intensity_text(record: Traced) -> str:
    """Operations, bytes, and operations per byte."""
    traffic = record.traffic
    told = (
        f"{record.operations:,} floating-point operations, {traffic.bytes:,} bytes moved: "
        f"{traffic.intensity:.3g} operations per byte "
        f"({traffic.distinct_intensity:.3g} with a perfect cache)"
    )
    stored = [row for row in traffic.arguments.values() if row.stored]
    lanes, active = (sum(getattr(row, k) for row in stored) for k in ("lanes", "active_lanes"))
    if not record.operations or active == lanes:
        return told
    return (
        f"{told}. A block computes in all its lanes, also in those that are masked off: counted "
        f"for the {active:,} of {lanes:,} lanes that store, it is "
        f"{traffic.intensity * active / lanes:.3g}"
    )


COALESCED = (
    "coalesced: the fewest memory sectors of 32 bytes that could carry the bytes, over those "
    "that were touched"
)


def steps_text(record: Traced, program: int) -> str:
    """Every access of one program. Raises IndexError if there is no such program."""
    touches = _touches(record, program)
    lines = [f"{program_name(record, program)}:"]
    lines += [f"  {number}. {touch_text(record, touch)}" for number, touch in enumerate(touches, 1)]
    return "\n".join(lines if touches else [f"{lines[0]} no accesses"])


def touch_text(record: Traced, touch: Touch) -> str:
    """One access: `loads 4 elements of x_ptr, [4] to [7]   (line 9: x = tl.load(...))`."""
    argument = record.arguments[touch.argument]
    off = touch.lanes - touch.offsets.size
    masked = f", {off} lane{'' if off == 1 else 's'} masked off" if off else ""
    where = f"   (line {touch.line}: {touch.code})" if touch.code else ""
    count = touch.offsets.size
    elements = f"{count} element{'' if count == 1 else 's'} of {touch.argument}"
    return f"{VERBS[touch.operation]} {elements}{_span(argument, touch)}{masked}{where}"


def program_name(record: Traced, program: int) -> str:
    """`program (1, 0)`, with as many axes as the grid has."""
    ids = record.program_id(program)[: len(_grid(record))]
    return f"program {ids[0] if len(ids) == 1 else ids}"


def _touches(record: Traced, program: int) -> list[Touch]:
    if not 0 <= program < len(record.programs):
        raise IndexError(f"there are the programs 0 to {len(record.programs) - 1}, no {program}")
    return list(record.programs[program])


def _span(argument: Argument, touch: Touch) -> str:
    """The first and the last index that an access touches."""
    if not touch.offsets.size:
        return ""
    indices = argument.indices(touch.offsets)
    low = indices.min(axis=0).tolist()
    high = indices.max(axis=0).tolist()
    return f", {low}" if low == high else f", {low} to {high}"


def _grid(record: Traced) -> tuple[int, ...]:
    sizes = list(record.grid)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return tuple(sizes)
