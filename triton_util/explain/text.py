"""Explanations and comparisons as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_util.explain import phrases
from triton_util.explain.facts import Explained, Made

ROWS = (
    ("registers per thread", lambda made: f"{made.registers}"),
    ("spills per thread", phrases.describe_spills),
    ("shared memory per program", phrases.describe_shared_memory),
    ("on one processor", phrases.describe_occupancy),
    ("widest load per thread", lambda made: f"{phrases.widest_load(made)} bits"),
    ("tensor cores", phrases.tensor_core_instructions),
    ("instructions of PTX", lambda made: f"{made.total.instructions:,}"),
)


def explanation_text(explanation: Explained) -> str:
    """Figures and remarks for each target, then the source with the instructions of its lines."""
    return "\n".join(_lines(explanation)).rstrip() + "\n"


def _lines(explanation: Explained) -> Iterator[str]:
    if not explanation.made:
        yield f"{explanation.name} launches no kernel on these arguments."
    for made in explanation.made:
        head = f"{made.label} on {made.target.name} ({made.target.cards})"
        yield from (head, "=" * len(head))
        if not made.error:
            yield from table([(name, value(made)) for name, value in ROWS])
        for remark in phrases.remarks(explanation, made):
            yield f"! {remark}"
        yield ""
        yield from _source(explanation, made)
        yield ""
    if explanation.left_out:
        yield f"({explanation.left_out} further specialisations are not shown.)"


def _source(explanation: Explained, made: Made) -> Iterator[str]:
    for number, facts in sorted((made.lines or {}).items()):
        if not number:
            continue
        said = phrases.describe_line(facts)
        label = f"{number:>4} | {explanation.line(number)}"
        yield f"{label:<72}  {said}".rstrip()


def table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Columns, left-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
