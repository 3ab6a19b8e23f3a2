"""Mistakes of one matrix product, made in the product of every expert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch

from graders.course.common.detectors import Detector
from graders.judge.records import Evidence, ExpectedWrong, Fault, Misconception

LARGEST_BLOCK = 128  # of k, that anybody takes


def groups(offsets: torch.Tensor) -> list[tuple[int, int]]:
    """Return the first row of each expert and the end of its rows."""
    bounds = [int(bound) for bound in offsets]
    return list(pairwise(bounds))


def of_each_expert(mistake: Misconception) -> Misconception:
    """Return the misconception of a product a @ b for x, w and offsets, expert by expert."""
    return replace(
        mistake,
        expected_wrong=tuple(
            replace(wrong, function=_by_expert(wrong)) for wrong in mistake.expected_wrong
        ),
        detector=None if mistake.detector is None else _of_first_factors(mistake.detector),
    )


def _by_expert(wrong: ExpectedWrong) -> Callable[..., list[torch.Tensor]]:
    def function(*given: Any) -> list[torch.Tensor]:
        *block, x, w, offsets = given
        forms = [
            _as_list(wrong.function(*block, x[first:end], w[expert]))
            for expert, (first, end) in enumerate(groups(offsets))
            if end > first
        ]
        if len({len(found) for found in forms}) != 1:
            return []  # some expert does not show the mistake, or not all forms of it
        return [torch.cat(parts) for parts in zip(*forms, strict=True)]

    return function


def _as_list(found: Any) -> list[torch.Tensor]:
    if found is None:
        return []
    return found if isinstance(found, list) else [found]


def _of_first_factors(detector: Detector) -> Detector:
    """Use a detector for a product of two matrices: it is shown x and one expert's matrix.

    It does not see faults at the offsets, nor those far behind the end of x: these have other
    causes.
    """

    def found(evidence: Evidence) -> bool:
        x, w, offsets = evidence.args
        faults = tuple(
            fault
            for fault in evidence.faults
            if not _is_at(offsets, fault) and not _far_behind(x, fault)
        )
        return bool(len(w)) and detector(replace(evidence, args=(x, w[0]), faults=faults))

    return found


def _far_behind(x: torch.Tensor, fault: Fault) -> bool:
    """Whether lanes were further behind the end of x than a block of k reaches."""
    if not _is_at(x, fault) or fault.outside is None or not x.is_contiguous():
        return False
    return fault.outside.highest >= fault.outside.end - 1 + LARGEST_BLOCK


def _is_at(tensor: torch.Tensor, fault: Fault) -> bool:
    return fault.outside is not None and fault.outside.shape == tuple(tensor.shape)
