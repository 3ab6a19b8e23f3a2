"""State the arguments of a launch and its programs' places: wrong mask, or wrong grid?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from graders.judge.records import Aim, Evidence

MOST_ARGUMENTS = 14  # that are shown
_SHAPE = re.compile(r"(tensor )?\((-?\d+(, -?\d+)*,?)?\)")
AXES = ("0", "1", "2")


def handed(evidence: Evidence, parameters: Sequence[str]) -> str:
    """`The kernel gets x_ptr = tensor (64, 20), n_rows = 64, BLOCK = 16, on the grid (4, 2, 1).`

    parameters: those of the launcher; the kernel may get their arguments under other names.
    """
    launch = evidence.launches[-1] if evidence.launches else None
    if launch is None or not launch.given:
        return ""
    told = [f"{name} = {value}" for name, value in launch.given.items() if _is_plain(value)]
    shown = f"The kernel gets {', '.join(told[:MOST_ARGUMENTS])}, on the grid {launch.grid}."
    return " ".join(filter(None, (shown, _exchanged(launch.given, evidence, parameters))))


def _is_plain(value: Any) -> bool:
    """Whether it is a number, or the words for a tensor or a tuple of whole numbers."""
    if isinstance(value, str):
        return bool(_SHAPE.fullmatch(value))
    return isinstance(value, int | float)


def _exchanged(given: Mapping[str, Any], evidence: Evidence, parameters: Sequence[str]) -> str:
    """A sentence if x_ptr does not have the shape of x, but that of another argument."""
    shapes = {
        name: f"tensor {tuple(value.shape)}"
        for name, value in zip(parameters, evidence.args, strict=False)
        if isinstance(value, torch.Tensor)
    }
    for name, value in given.items():
        own = name.removesuffix("_ptr")
        other = next((n for n, shape in shapes.items() if n != own and shape == value), "")
        if name != own and own in shapes and shapes[own] != value and other:
            return (
                f"{name} gets a tensor of the shape of {other}, not of {own}: are the arguments "
                "of the launch in the order of the kernel's `def` line?"
            )
    return ""


def aimed(evidence: Evidence) -> str:
    """What is known about the stores to the output; empty if all was stored or it is unknown."""
    if evidence.never_stored is None or not bool(evidence.never_stored.any()):
        return ""
    launch = evidence.launches[-1] if evidence.launches else None
    count = evidence.expected.numel()
    found = launch.aim if launch is not None else None
    if launch is None or found is None or found.elements != count:
        return ""
    said = [_starts(found)]
    if found.reached is not None:
        stored = count - int(evidence.never_stored.sum())
        if found.reached and not stored:
            let = "but the mask is false for all of them, so none is stored"
        else:
            let = f"and the masks are true for {stored} of them"
        said.append(
            f"Over the whole grid {launch.grid} the pointers reach {found.reached} of {count} "
            "elements, "
            f"{let}."
        )
    return " ".join(filter(None, said))


def _starts(found: Aim) -> str:
    """`A block has 1024 lanes; program 0 starts at offset 0, program 1 at offset 1024.`"""
    first, *others = found.firsts
    if first is None:
        return ""
    neighbours = [
        f"the next one along axis {axis} at {offset}"
        for axis, offset in zip(AXES, others, strict=True)
        if offset is not None
    ]
    lanes = f"{found.lanes} lanes" if found.lanes != 1 else "one lane"
    listed = ", ".join([f"program 0 starts at offset {first}", *neighbours])
    return f"A store has {lanes}; {listed}."
