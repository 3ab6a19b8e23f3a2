"""Figure of which program touches which element of a vector."""

from __future__ import annotations

from collections.abc import Sequence

from triton_util.figures.drawing import Drawing, Look, cell, label, panel, spoken


def touches(n_elements: int, programs: Sequence[Sequence[int]], title: str = "") -> Drawing:
    """One row per program, one column per element; x marks what the program touches.

    programs[pid] lists the offsets that program pid touches. Offsets from n_elements on are
    drawn as memory after the vector. At most 8 programs and offsets below 16.
    """
    last = max((offset for offsets in programs for offset in offsets), default=0)
    columns = max(n_elements, last + 1)
    if len(programs) > 8 or columns > 16:
        raise ValueError("this picture shows at most 8 programs and offsets below 16")
    figure, axes = panel(8.6, 1.2 + 0.3 * len(programs), 17.2, 2.4 + 0.6 * len(programs))
    label(axes, 0.3, 0.45, title or f"{n_elements} elements", bold=True, align="left")
    for pid, offsets in enumerate(programs):
        y = 0.9 + 0.6 * pid
        label(axes, 2.3, y + 0.3, f"program {pid}", 9, align="right")
        for column in range(columns):
            here, inside = column in offsets, column < n_elements
            look: Look = "active" if here and inside else "wrong" if here else "plain"
            if here or inside:
                cell(axes, 2.5 + 0.9 * column, y, "x" if here else "", look, 0.9, 0.6, 9)
    y = 1.25 + 0.6 * len(programs)
    for column in range(columns):
        text = str(column) if column < n_elements else f"({column})"
        label(axes, 2.95 + 0.9 * column, y, text, 8, quiet=True)
    label(
        axes,
        2.5,
        y + 0.6,
        "x: touched; crossed: behind the end of the vector",
        8.5,
        align="left",
        quiet=True,
    )
    sentences = [
        f"Program {pid} touches {spoken(offsets) or 'nothing'}{_behind(offsets, n_elements)}."
        for pid, offsets in enumerate(programs)
    ]
    untouched = set(range(n_elements)) - {o for offsets in programs for o in offsets}
    rest = (
        f"Nobody touches {spoken(sorted(untouched))}." if untouched else "No element is left out."
    )
    head = f"{title or 'Who touches what'}, {n_elements} elements."
    return Drawing(figure, " ".join([head, *sentences, rest]))


def _behind(offsets: Sequence[int], n_elements: int) -> str:
    """Which of a program's offsets are past the end of the vector, in words; "" if none."""
    outside = [offset for offset in offsets if offset >= n_elements]
    return f", of which {spoken(outside)} lies behind the end of the vector" if outside else ""
