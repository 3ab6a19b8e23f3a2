"""Figure of a queue: when the host launches, when the GPU works, and what a clock measures."""

from __future__ import annotations

from triton_util.figures.drawing import Drawing, arrow, cell, label, panel

MAX_CALLS = 8
LEFT, RIGHT = 3.0, 16.8


def launches(launch: float = 1.0, kernel: float = 3.0, calls: int = 4) -> Drawing:
    """`calls` launches of a kernel, drawn to scale, and two spans measured by the host's clock.

    launch: the host's time for one; kernel: the GPU's time for one; in the same unit.
    Raises ValueError for more than 8 calls.
    """
    if not 1 <= calls <= MAX_CALLS:
        raise ValueError(f"this picture shows 1 to {MAX_CALLS} launches")
    ends: list[float] = []
    for call in range(calls):
        told = (call + 1) * launch
        ends.append(max(told, ends[-1] if ends else 0.0) + kernel)
    scale = (RIGHT - LEFT) / ends[-1]
    figure, axes = panel(8.6, 2.7, 17.2, 5.4)
    label(axes, LEFT - 0.2, 1.05, "host", 10, bold=True, align="right")
    label(axes, LEFT - 0.2, 2.15, "GPU", 10, bold=True, align="right")
    for call, end in enumerate(ends):
        x = LEFT + call * launch * scale
        cell(axes, x, 0.7, f"launch {call}", "second", launch * scale, 0.7, 8)
        x = LEFT + (end - kernel) * scale
        cell(axes, x, 1.8, f"kernel {call}", "active", kernel * scale, 0.7, 8)
    returned = calls * launch
    waiting = (ends[-1] - returned) * scale
    words = "synchronize: the host waits" if waiting > 5 else "waits"
    cell(axes, LEFT + returned * scale, 0.7, words, "idle", waiting, 0.7, 8)
    busy, total = calls * kernel, ends[-1]
    spans = (
        (returned, f"clock without waiting: {returned:g}"),
        (total, f"clock with synchronize: {total:g}"),
    )
    for line, (length, text) in enumerate(spans):
        y = 3.2 + 0.85 * line
        arrow(axes, (LEFT, y), (LEFT + length * scale, y))
        label(axes, LEFT, y + 0.35, text, 9.5, align="left")
    told_all = f"the kernels themselves: {calls} times {kernel:g}, that is {busy:g}"
    label(axes, LEFT, 5.05, told_all, 9.5, align="left")
    gaps = "The GPU has gaps, because it waits for the host."
    alt = (
        f"Two rows over time. The host makes {calls} launches of {launch:g} each, and is through "
        f"after {returned:g}. The GPU works through {calls} kernels of {kernel:g} each, one after "
        f"the other, and ends at {total:g}, when a synchronize lets the host go on. A clock on the "
        f"host sees {returned:g} without waiting and {total:g} with it; the kernels themselves "
        f"take {busy:g}. {gaps if kernel < launch else 'The host is ahead of the GPU.'}"
    )
    return Drawing(figure, alt)
