"""Where the programs of a launch pointed, in a sentence: it tells a mask from a grid."""

from __future__ import annotations

from graders.judge.records import Aim, Evidence

AXES = ("0", "1", "2")


def aimed(evidence: Evidence) -> str:
    """What is known of the stores to the output; empty where all was stored or nobody knows."""
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
        said.append(
            f"The pointers of the grid {launch.grid} come to {found.reached} of {count} elements, "
            f"and the masks let {stored} of them be stored."
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
