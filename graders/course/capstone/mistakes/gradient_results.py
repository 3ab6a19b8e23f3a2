"""The gradient of a cross-entropy, as mistakes would compute it."""

from __future__ import annotations

import math

import torch

from graders.course.capstone.mistakes.shares import Found
from graders.course.capstone.reference import counted, cross_entropy_backward, one_hot, times_dloss
from graders.course.common.expected import each, read_as
from graders.course.reductions.mistakes.softmax_results import blocks, not_walked
from graders.course.reductions.reference import row_maximum, softmax
from graders.judge.cases.compare import widened


def without_one_hot(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """The share times dloss, or minus that."""
    shares = times_dloss(softmax(logits), targets, dloss)
    return [shares, -shares]


def without_shares(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """-1 in the column of the target, and nothing elsewhere."""
    ones = one_hot(logits, targets)
    shares = softmax(logits) * ones
    forms = (-ones, ones, shares - ones)
    return [times_dloss(form, targets, dloss) for form in forms]


def without_dloss(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    return [cross_entropy_backward(logits, targets, torch.ones_like(dloss))]


def dloss_for_all(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """One dloss for all rows: the first, the sum or the mean."""
    if not len(dloss):
        return []
    known = dloss.where(counted(targets), 0.0)
    chosen = [dloss[0], known.sum(), known.sum() / len(dloss), known.sum() / max(1, len(known))]
    return [cross_entropy_backward(logits, targets, one.expand(len(dloss))) for one in chosen]


def averaged(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """Each row is divided by the number of rows, of those that count, or of columns."""
    right = cross_entropy_backward(logits, targets, dloss)
    numbers = {len(dloss), int(counted(targets).sum()), logits.shape[1]} - {0}
    return [right / number for number in sorted(numbers)]


def sign_reversed(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """One-hot minus softmax, or the sum of both."""
    both = softmax(logits) + one_hot(logits, targets)
    return [-cross_entropy_backward(logits, targets, dloss), times_dloss(both, targets, dloss)]


def bracket_lost(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """dloss belongs to one of the two terms alone."""
    shares, ones, kept = softmax(logits), one_hot(logits, targets), counted(targets)[:, None]
    by = dloss[:, None]
    return [(form).where(kept, 0.0) for form in (shares * by - ones, shares - ones * by)]


def one_everywhere(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """1 is subtracted in every column, or 1 / v."""
    columns = max(1, logits.shape[1])
    shares = softmax(logits)
    return [times_dloss(shares - one, targets, dloss) for one in (1.0, 1.0 / columns)]


def wrong_column(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """1 is subtracted in the column beside, of another row's target, or of the row's number."""
    rows, shares = len(targets), softmax(logits)
    if not rows:
        return []
    others = [
        targets + 1,
        targets - 1,
        targets[:1].expand(rows),
        torch.arange(rows),
        torch.zeros_like(targets),
        torch.cat([targets[1:], targets[:1]]),
    ]
    return [times_dloss(shares - one_hot(logits, other), targets, dloss) for other in others]


def not_normalised(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """exp(x - max), exp(x) or the logit itself in place of the share."""
    if not logits.numel():
        return []
    above = logits - row_maximum(logits)
    forms = (torch.exp(above), torch.exp(logits), logits, torch.log_softmax(logits, dim=1))
    ones = one_hot(logits, targets)
    return [times_dloss(form - ones, targets, dloss) for form in forms]


def of_softmax(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """The gradient of the share of the target, not of its logarithm."""
    shares, ones = softmax(logits), one_hot(logits, targets)
    mine = (shares * ones).sum(dim=1, keepdim=True)
    return [
        times_dloss(form, targets, dloss)
        for form in (mine * (ones - shares), mine * (shares - ones), shares * (1 - shares))
    ]


def ignored_counted(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """Rows that do not count have shares times dloss, or the gradient of some class."""
    kept = counted(targets)
    if bool(kept.all()) or not logits.numel():
        return []
    columns = logits.shape[1]
    alone = (softmax(logits) - one_hot(logits, targets)) * dloss[:, None]
    classes = sorted({0, columns - 1, -100 % columns})
    others = (targets.where(kept, one) for one in classes)
    return [alone, *(cross_entropy_backward(logits, other, dloss) for other in others)]


def base_two(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    two, ones = math.log(2.0), one_hot(logits, targets)
    return [
        times_dloss(softmax(logits * factor) - ones, targets, dloss)
        for factor in (two, two**2, 1 / two)
    ]


def target_by_lane(
    block: int, logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> Found:
    """1 is subtracted in each block again, in the lane that has the number of the target."""
    if not_walked(block, logits):
        return []
    lanes = (torch.arange(logits.shape[1]) % block)[None, :] == targets[:, None]
    return [times_dloss(softmax(logits) - lanes.double(), targets, dloss)]


def end_left_out(
    block: int, logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> Found:
    """The sum runs over the first block, or over the blocks that are full."""
    if not_walked(block, logits):
        return []
    ends = {block, logits.shape[1] // block * block}
    wholes = (torch.logsumexp(logits[:, :end], dim=1, keepdim=True) for end in ends)
    ones = one_hot(logits, targets)
    return [times_dloss(torch.exp(logits - whole) - ones, targets, dloss) for whole in wholes]


def one_in_one_block(
    block: int, logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> Found:
    """1 is subtracted in the first block, or in the last one, alone."""
    if not_walked(block, logits):
        return []
    shares, ones = softmax(logits), one_hot(logits, targets)
    number = torch.arange(logits.shape[1]) // block
    return [
        times_dloss(shares - ones * (number == kept), targets, dloss)
        for kept in (0, len(blocks(logits, block)) - 1)
    ]


def dloss_misread(logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor) -> Found:
    """dloss is read as if it were dense."""
    if dloss.is_contiguous() or not len(dloss):
        return []
    read = each([read_as(dloss, tuple(dloss.shape), (1,))])
    return [cross_entropy_backward(*widened((logits, targets, found))) for found in read]


def over_columns(
    logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> torch.Tensor | None:
    """The softmax of the columns."""
    if not logits.numel():
        return None
    return times_dloss(torch.softmax(logits, dim=0) - one_hot(logits, targets), targets, dloss)
