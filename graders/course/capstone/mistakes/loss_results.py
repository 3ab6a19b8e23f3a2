"""The loss of rows of logits, as mistakes would compute it."""

from __future__ import annotations

import math

import torch

from graders.course.capstone.mistakes.shares import Found
from graders.course.capstone.reference import counted, cross_entropy, of_targets
from graders.course.common.expected import read_as
from graders.course.reductions.mistakes.softmax_results import blocks, not_walked
from graders.judge.cases.compare import widened

UNKNOWN = float("nan")


def _whole(logits: torch.Tensor) -> torch.Tensor:
    """log(sum(exp(row)))."""
    return torch.logsumexp(logits, dim=1)


def _kept(losses: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return losses.where(counted(targets), 0.0)


def _highest(logits: torch.Tensor) -> torch.Tensor:
    return logits.amax(dim=1) if logits.shape[1] else logits.new_zeros(logits.shape[0])


def ignored_counted(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """Rows that do not count have the log-sum-exp, or the loss of a class that -100 stands for."""
    kept = counted(targets)
    if bool(kept.all()) or not logits.numel():
        return []
    columns = logits.shape[1]
    classes = {0, columns - 1, -100 % columns}
    alone = _whole(logits).where(~kept, cross_entropy(logits, targets))
    return [alone, *(cross_entropy(logits, targets.where(kept, one)) for one in sorted(classes))]


def without_log(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The sum of the exponentials itself, or the share of the target."""
    highest, mine = _highest(logits), of_targets(logits, targets)
    total = torch.exp(logits - highest[:, None]).sum(dim=1)
    share = torch.exp(mine - _whole(logits))
    forms = (highest + total - mine, total - mine, share, -share, 1 - share, total)
    return [_kept(form, targets) for form in forms]


def without_target(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The logit of the target is not subtracted."""
    return [_kept(_whole(logits), targets)]


def without_maximum(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The maximum that was subtracted is not added back, or is subtracted twice."""
    losses, highest = cross_entropy(logits, targets), _highest(logits)
    return [_kept(losses - highest, targets), _kept(losses + highest, targets)]


def maximum_alone(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return _kept(_highest(logits) - of_targets(logits, targets), targets)


def sign_reversed(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    losses = cross_entropy(logits, targets)
    both = _whole(logits) + of_targets(logits, targets)
    return [-losses, _kept(both, targets)]


def averaged(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """Every row has the mean, the sum, or its share of the mean."""
    losses = cross_entropy(logits, targets)
    if not len(losses):
        return []
    known = max(1, int(counted(targets).sum()))
    rows = len(losses)
    each = [losses.sum() / known, losses.sum() / rows, losses.sum()]
    alike = [mean.expand(rows).clone() for mean in each]
    columns = max(1, logits.shape[1])
    return [
        *(_kept(form, targets) for form in alike),
        *alike,
        losses / rows,
        losses / known,
        losses / columns,
    ]


def base_two(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """Powers of 2 or logarithms to the base 2 that nobody converts."""
    two, mine, highest = math.log(2.0), of_targets(logits, targets), _highest(logits)
    above = logits - highest[:, None]
    of_two = torch.logsumexp(above * two, dim=1)
    natural = torch.logsumexp(above, dim=1)
    forms = (
        highest + of_two - mine,  # the natural logarithm of powers of 2
        highest + of_two / two - mine,  # both to the base 2
        highest + natural / two - mine,  # the logarithm to the base 2 of powers of e
        (highest + natural - mine) / two,
        (highest + natural) / two - mine,
        (highest + natural - mine) * two,
        torch.logsumexp(logits * two, dim=1) - mine,
        torch.logsumexp(logits / two, dim=1) - mine,
        torch.logsumexp(logits / two, dim=1) - mine / two,
        torch.logsumexp(logits / two, dim=1) * two - mine,
    )
    return [_kept(form, targets) for form in forms]


def target_of_another_row(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The target of another row, the row's number, or the next class."""
    rows, columns = logits.shape
    if not rows or not columns:
        return []
    numbers = torch.arange(rows)
    first = targets[:1].expand(rows)
    chosen = [
        first,
        numbers % columns if rows > columns else numbers,
        torch.cat([targets[1:], targets[:1]]),
        torch.cat([targets[-1:], targets[:-1]]),
        torch.zeros_like(targets),
        (targets + 1).clamp(max=columns - 1),
        (targets - 1).clamp(min=0),
    ]
    found = []
    for others in chosen:
        known = counted(others) & counted(targets)
        losses = _whole(logits) - of_targets(logits, others.clamp(0, columns - 1))
        found.append(losses.where(known, UNKNOWN).where(counted(targets), 0.0))
    return found


def row_forgotten(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The logit of the target is read in the first row, or in another place of the matrix."""
    if not logits.numel():
        return []
    wide_logits, _ = widened((logits, targets))
    kept, rows = counted(targets), torch.arange(len(targets))
    places = targets.where(kept, 0)
    by_row, by_column = logits.stride()
    columns = logits.shape[1]
    offsets = [
        places * by_column,
        places,
        rows * by_row + places,
        rows * columns + places,
        rows * columns + places * by_column,
        places * by_row + rows * by_column,
        rows * by_row + places * by_row,
        rows * by_column + places,
        rows + places,
    ]
    right = rows * by_row + places * by_column
    whole, found = _whole(wide_logits), []
    for chosen in offsets:
        if torch.equal(chosen, right):
            continue
        read = read_as(logits, (int(chosen.max()) + 1,), (1,))
        if read is not None:
            found.append(_kept(whole - read[chosen].double(), targets))
    return found


def target_by_lane(block: int, logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The number of a lane is compared with the target, in each block, or in one of them."""
    if not_walked(block, logits):
        return []
    columns = torch.arange(logits.shape[1])
    at_lane = (columns % block)[None, :] == targets[:, None]
    mine = logits.masked_fill(~at_lane, 0.0)
    last = mine[:, (logits.shape[1] - 1) // block * block :]
    return [
        _kept(_whole(logits) - part.nan_to_num(neginf=0.0).sum(dim=1), targets)
        for part in (mine, last)
    ]


def target_of_one_block(block: int, logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The logit of the target is kept of the last block, or of the first one, alone."""
    if not_walked(block, logits):
        return []
    last = (logits.shape[1] - 1) // block
    mine = of_targets(logits, targets)
    found = []
    for kept in (last, 0):
        seen = targets.div(block, rounding_mode="floor") == kept
        found.append(_kept(_whole(logits) - mine.where(seen, 0.0), targets))
        found.append(_kept((_whole(logits) - mine).where(seen, float("inf")), targets))
        found.append(_kept((_whole(logits) - mine).where(seen, 0.0), targets))
    return found


def end_left_out(block: int, logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The sum runs over the first block, or over the blocks that are full."""
    if not_walked(block, logits):
        return []
    ends = {block, logits.shape[1] // block * block}
    return [_kept(_whole(logits[:, :end]) - of_targets(logits, targets), targets) for end in ends]


def last_maximum_added(block: int, logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The sum belongs to the maximum of the row, and that of the last block is added."""
    if not_walked(block, logits):
        return []
    highest = [part.amax(dim=1) for part in blocks(logits, block)]
    losses = cross_entropy(logits, targets) - _highest(logits)
    return [_kept(losses + chosen, targets) for chosen in (highest[-1], highest[0])]


def over_columns(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor | None:
    """The sum runs down the columns: that of the target's column."""
    if not logits.numel():
        return None
    down = torch.logsumexp(logits, dim=0)
    places = targets.where(counted(targets), 0)
    return _kept(down[places] - of_targets(logits, targets), targets)


def logits_for_shares(logits: torch.Tensor, targets: torch.Tensor) -> Found:
    """The logits are taken for shares, or for logarithms of shares."""
    mine = of_targets(logits, targets)
    return [_kept(form, targets) for form in (-mine, -mine.abs().log(), mine)]


def softmax_twice(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor | None:
    """The loss of what softmax has made of the logits."""
    return cross_entropy(torch.softmax(logits, dim=1), targets) if logits.numel() else None
