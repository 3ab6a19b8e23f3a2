"""The cross-entropy of rows of logits, and its gradient."""

from __future__ import annotations

import torch

from graders.course.reductions.reference import softmax, softmax_magnitude

IGNORED = -100  # the target of a row that does not count, as in torch


def counted(targets: torch.Tensor) -> torch.Tensor:
    """Which rows count."""
    return targets != IGNORED


def of_targets(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return each row's logit at its target, (t,), and 0 in rows that do not count."""
    if not logits.shape[1]:
        return logits.new_zeros(logits.shape[0])
    kept = counted(targets)
    found = logits.gather(1, targets.where(kept, 0)[:, None])[:, 0]
    return found.where(kept, 0.0)


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return log(sum(exp(row))) - row[target] of each row, and 0 where it does not count."""
    losses = torch.logsumexp(logits, dim=1) - of_targets(logits, targets)
    return losses.where(counted(targets), 0.0)


def cross_entropy_magnitude(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the size of the numbers that are subtracted, and of the arguments of exp and log."""
    arguments = softmax_magnitude(logits).sum(dim=1)
    whole = torch.logsumexp(logits, dim=1).abs().nan_to_num(posinf=0.0)
    terms = arguments + whole + of_targets(logits, targets).abs()
    return terms.where(counted(targets), 0.0)


def one_hot(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return 1 in the column of each row's target, and 0 elsewhere."""
    return (torch.arange(logits.shape[1]) == targets[:, None]).to(logits.dtype)


def times_dloss(gradient: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> torch.Tensor:
    """Return each row times its dloss, and 0 in rows that do not count, whatever dloss is there."""
    return (gradient * dloss[:, None]).where(counted(targets)[:, None], 0.0)


def cross_entropy_backward(
    logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> torch.Tensor:
    """Return (softmax - one-hot) * dloss."""
    return times_dloss(softmax(logits) - one_hot(logits, targets), targets, dloss)


def cross_entropy_backward_magnitude(
    logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> torch.Tensor:
    """Return the terms of the difference, with the error of exp, times dloss."""
    terms = softmax_magnitude(logits) + one_hot(logits, targets)
    return times_dloss(terms, targets, dloss.abs())
