"""Which elements of a result were stored: the shapes of what was left out."""

from __future__ import annotations

import math

import torch

from graders.judge.records import Evidence


def _stored(evidence: Evidence, wrong: torch.Tensor) -> torch.Tensor | None:
    """Which elements a kernel stored, flattened; None if all of them were or it is unknown.

    Also None if the left-out elements are correct: zeros of an output from torch.zeros are not
    holes.
    """
    if evidence.never_stored is None or not bool((evidence.never_stored & wrong).any()):
        return None
    return ~evidence.never_stored.reshape(-1)


def nothing_stored(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether no kernel stored any element."""
    stored = _stored(evidence, wrong)
    return stored is not None and not bool(stored.any())


def silenced(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether there was a store, and none of its lanes stored anything."""
    aim = evidence.launches[-1].aim if evidence.launches else None
    return aim is not None and nothing_stored(evidence, wrong)


def stored_twice(evidence: Evidence) -> bool:
    """Whether elements were left out although the masks let enough lanes through for all."""
    aim, missing = evidence.launches[-1].aim if evidence.launches else None, evidence.never_stored
    if aim is None or aim.passed is None or missing is None or not bool(missing.any()):
        return False
    return aim.passed >= aim.elements == missing.numel() > int(missing.sum())


def idle_programs(evidence: Evidence) -> bool:
    """Whether tiles of a matrix were left out, and enough programs for them stored nothing.

    Only for a grid with one axis, where each program must compute which tile is its own.
    """
    launch, missing = evidence.launches[-1] if evidence.launches else None, evidence.never_stored
    aim = launch.aim if launch is not None else None
    if launch is None or aim is None or not aim.storing or missing is None:
        return False
    if missing.dim() != 2 or math.prod(launch.grid[1:]) != 1:
        return False
    idle = math.prod(launch.grid) - aim.storing
    return 0 < int(missing.sum()) <= idle * aim.lanes


def work_outside(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether a hole in the result might have been filled by programs that stored nothing."""
    return _stored(evidence, wrong) is not None and idle_programs(evidence)


def lanes_meet(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether a hole in the result is explained by elements that were stored several times."""
    return _stored(evidence, wrong) is not None and stored_twice(evidence)


def first_row_only(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether the first row was stored, and nothing else."""
    if evidence.never_stored is None or evidence.expected.dim() < 2:
        return False
    rows = ~evidence.never_stored.reshape(evidence.expected.shape[0], -1)
    return rows.shape[0] > 1 and bool(rows[0].all()) and not bool(rows[1:].any())


def prefix_only(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether elements were stored up to one point and none after it: one block, or too few."""
    stored = _stored(evidence, wrong)
    if stored is None or not bool(stored[0]):
        return False
    return int(stored.sum()) == int(stored.int().argmin())


def suffix_only(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether only the end was stored."""
    stored = _stored(evidence, wrong)
    if stored is None or not bool(stored[-1]) or int((~stored).sum()) == 1:
        return False
    return int(stored.sum()) == int(stored.flip(0).int().argmin())


def never_stored(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether some element was never stored."""
    return _stored(evidence, wrong) is not None
