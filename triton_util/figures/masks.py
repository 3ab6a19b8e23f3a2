"""Figure of dropout masks: which elements are kept by each of several ways to count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triton_util.figures.drawing import Drawing, cell, label, panel, spoken

MOST_ELEMENTS, MOST_MASKS = 24, 8
LEFT, WIDTH, HEIGHT, RIGHT = 6.2, 0.9, 0.8, 3.4


def masks(kept: Mapping[str, Sequence[bool]]) -> Drawing:
    """A row for each mask: the numbers of its elements, hatched where an element is dropped.

    `kept` says for each name which elements are kept; each mask is compared with the first one.
    Raises ValueError for more than 24 elements or 8 masks.
    """
    rows = {name: [bool(one) for one in mask] for name, mask in kept.items()}
    longest = max((len(mask) for mask in rows.values()), default=0)
    if longest > MOST_ELEMENTS or len(rows) > MOST_MASKS:
        raise ValueError(f"this picture shows at most {MOST_ELEMENTS} elements, {MOST_MASKS} masks")
    width, height = LEFT + WIDTH * longest + RIGHT, 1.4 + HEIGHT * len(rows)
    figure, axes = panel(max(6.0, 0.42 * width), 0.45 * height, width, height)
    label(axes, 0.2, 0.4, "elements: a number is kept, a hatched x is dropped", 9, align="left")
    first, told = next(iter(rows.values()), []), []
    for place, (name, mask) in enumerate(rows.items()):
        y = 0.9 + HEIGHT * place
        label(axes, LEFT - 0.2, y + HEIGHT / 2, name, 9, align="right")
        for element, keep in enumerate(mask):
            x, look = LEFT + WIDTH * element, "active" if keep else "idle"
            cell(axes, x, y, str(element) if keep else "x", look, WIDTH, HEIGHT, 8.5)  # type: ignore[arg-type]
        verdict = "the same mask" if mask == first else "another mask"
        if place:
            label(axes, LEFT + WIDTH * longest + 0.2, y + HEIGHT / 2, verdict, 9, align="left")
        dropped = [element for element, keep in enumerate(mask) if not keep]
        words = f"drops {spoken(dropped)}" if dropped else "drops nothing"
        told.append(f"{name}: {words}" + (f" ({verdict})" if place else ""))
    return Drawing(figure, f"Masks of {longest} elements. " + "; ".join(told) + ".")
