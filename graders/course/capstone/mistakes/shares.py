"""A softmax that a mistake has spoiled, as the loss and its gradient would show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from graders.course.capstone.reference import counted, of_targets, one_hot, times_dloss

Found = list[torch.Tensor]
Wrong = Callable[..., Any]


def as_list(found: Any) -> Found:
    """Return the forms of a wrong result as a list, an empty one where there is none."""
    if found is None:
        return []
    return found if isinstance(found, list) else [found]


def loss_of(*functions: Wrong) -> tuple[Wrong, ...]:
    """Return, of wrong softmaxes of a matrix, the functions of what the loss would then be."""

    def through(function: Wrong) -> Wrong:
        def losses(*args: Any) -> Found:
            *before, logits, targets = args
            found = as_list(function(*before, logits)) if logits.numel() else []
            return [
                (-of_targets(shares, targets).log()).where(counted(targets), 0.0)
                for shares in found
            ]

        return losses

    return tuple(through(function) for function in functions)


def gradient_of(*functions: Wrong) -> tuple[Wrong, ...]:
    """Return, of wrong softmaxes of a matrix, the functions of what the gradient would then be."""

    def through(function: Wrong) -> Wrong:
        def gradients(*args: Any) -> Found:
            *before, logits, targets, dloss = args
            found = as_list(function(*before, logits)) if logits.numel() else []
            return [
                times_dloss(shares - one_hot(logits, targets), targets, dloss) for shares in found
            ]

        return gradients

    return tuple(through(function) for function in functions)
