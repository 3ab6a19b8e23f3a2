"""Figure of a chain of kernels and of what each sends through global memory."""

from __future__ import annotations

from collections.abc import Sequence

from triton_util.figures.drawing import Drawing, Look, cell, label, panel

Step = tuple[str, int, int]  # what the kernel does, arrays it loads, arrays it stores


def chain(steps: Sequence[Step], fused: str = "all of it in one kernel") -> Drawing:
    """Each kernel of a chain with the arrays that it loads and stores, and one fused kernel.

    steps: (name, loads, stores); the fused kernel loads one array and stores one.
    """
    figure, axes = panel(8.6, 0.9 + 0.3 * (len(steps) + 2), 17.2, 1.8 + 0.6 * (len(steps) + 2))
    passes = sum(loads + stores for _, loads, stores in steps)
    head = f"{len(steps)} kernels, {passes} arrays travel; fused: 1 kernel, 2 arrays"
    label(axes, 0.3, 0.45, head, bold=True, align="left")
    rows = [*steps, (f"fused: {fused}", 1, 1)]
    for index, (name, loads, stores) in enumerate(rows):
        y = 0.95 + 0.6 * index + (0.35 if index == len(steps) else 0.0)
        label(axes, 7.6, y + 0.27, name, 9.5, bold=index == len(steps), align="right")
        for place in range(loads + stores):
            look: Look = "active" if place < loads else "second"
            kind = "load" if place < loads else "store"
            cell(axes, 7.9 + 1.6 * place, y, kind, look, 1.5, 0.54, 8.5)
    sentences = [f"{name}: {loads} loaded, {stores} stored" for name, loads, stores in rows]
    return Drawing(figure, f"{head}. Arrays per kernel: {'; '.join(sentences)}.")
