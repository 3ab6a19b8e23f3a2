"""Try it: which programs does a condition of `print_if` choose?"""

from __future__ import annotations

from typing import Any

import ipywidgets

from triton_util.conditions import ConditionError, matches
from triton_util.explore.controls import LABEL_STYLE, WIDE, follow, slider


def conditions_text(conditions: str, n_0: int = 4, n_1: int = 3) -> str:
    """A map of an n_0 x n_1 grid: the programs that `conditions` chooses, the others as dots.

    For an invalid condition it returns the error message instead.
    """
    lines = [f'print_if(..., "{conditions}") on a grid of ({n_0}, {n_1})', ""]
    chosen = 0
    try:
        for pid_0 in range(n_0):
            marks = []
            for pid_1 in range(n_1):
                found = matches(conditions, (pid_0, pid_1))
                chosen += found
                marks.append(f"({pid_0},{pid_1})" if found else "  .  ")
            lines.append(" ".join(marks))
    except ConditionError as error:
        return "\n".join([lines[0], "", f"not understood: {error}"])
    return "\n".join([*lines, "", f"{chosen} of {n_0 * n_1} programs print"])


def conditions(start: str = ">=1,=0", n_0: int = 4, n_1: int = 3) -> Any:
    """A text field for the conditions, the grid, and below them `conditions_text`."""
    field = ipywidgets.Text(value=start, description="conditions", style=LABEL_STYLE, layout=WIDE)
    controls = {
        "conditions": field,
        "n_0": slider("programs on axis 0", n_0, 1, 6),
        "n_1": slider("programs on axis 1", n_1, 1, 6),
    }
    return follow(conditions_text, controls)
