"""What counts as solved in the capstone: the loss of a language model, forward and backward."""

from __future__ import annotations

import math
from typing import Any

import torch

from graders.course.capstone.mistakes.gradient_records import MISTAKES as GRADIENT_MISTAKES
from graders.course.capstone.mistakes.loss_records import MISTAKES as LOSS_MISTAKES
from graders.course.capstone.reference import (
    IGNORED,
    cross_entropy,
    cross_entropy_backward,
    cross_entropy_backward_magnitude,
    cross_entropy_magnitude,
)
from graders.judge.cases.builders import ALL_VIEWS, HALVES, Maker, cases
from graders.judge.records import Arg, Exercise, TensorSpec, View

AXES = "rows classes"
GOLDEN = 0.6180339887498949  # its multiples spread over 0 to 1


def targets(
    rows: int, classes: int, every: int = 0, since: float = 0.0, until: float = 1.0
) -> TensorSpec:
    """Return targets that are spread over the classes from one share of them to another.

    every: each row of that number is ignored, beginning with row 1 (or 0, where there is one).
    """
    first, last = int(since * classes), int(until * classes)
    spread = (first + int((row * GOLDEN + 0.35) % 1 * (last - first)) for row in range(rows))
    values = tuple(
        IGNORED if every and row % every == min(1, every - 1) else target
        for row, target in enumerate(spread)
    )
    return TensorSpec((rows,), torch.int64, values=tuple(float(value) for value in values))


def batch(every: int = 0, since: float = 0.0, until: float = 1.0) -> Maker:
    """Return the maker of logits and targets."""

    def make(shape: tuple[int, ...], **spec: Any) -> tuple[Arg, ...]:
        rows, classes = shape
        return TensorSpec(shape, **spec), targets(rows, classes, every, since, until)

    return make


def with_dloss(
    every: int = 0,
    since: float = 0.0,
    until: float = 1.0,
    view: View = "contiguous",
    garbage: bool = False,
) -> Maker:
    """Return the maker of logits, targets and dloss.

    view: that of dloss. garbage: dloss is poison in the rows that are ignored.
    """

    def make(shape: tuple[int, ...], **spec: Any) -> tuple[Arg, ...]:
        rows, classes = shape
        own = targets(rows, classes, every, since, until)
        lost = [row for row, target in enumerate(own.values) if target == IGNORED]
        runs = tuple((row, row) for row in lost) if garbage else ()
        return TensorSpec(shape, **spec), own, TensorSpec(shape[:1], view=view, garbage=runs)

    return make


VIEWS: tuple[View, ...] = ALL_VIEWS
BATCH, IGNORING, BEHIND = batch(), batch(3), batch(since=0.8)
GIVEN, GIVEN_IGNORING, GIVEN_BEHIND = with_dloss(), with_dloss(3), with_dloss(since=0.8)
AHEAD, GIVEN_AHEAD = batch(until=0.05), with_dloss(until=0.05)
OF_A_SUM, GARBAGE = with_dloss(view="expanded_columns"), with_dloss(3, garbage=True)
OVERFLOW = "exp must not overflow."
LONG_ROWS = "A vocabulary longer than a block."
MASKED_HEAD = "Rows that begin with many -inf."
RISING = "Rows that rise: the largest logit is in the last block."
NOT_COUNTED = "Rows with the target -100."
NO_CLASSES = "No classes: all targets are -100."


def usual(make: Maker, ignoring: Maker, behind: Maker, ahead: Maker) -> tuple[Any, ...]:
    """Return the cases that the loss and its gradient share."""
    return (
        *cases(make, AXES, [(64, 64), (37, 53), (20, 128), (5, 1000)]),
        *cases(make, AXES, [(40, 40)], scale=5.0, why="Large differences within a row."),
        *cases(make, AXES, [(3, 5000), (5, 9000)], why=LONG_ROWS),
        *cases(make, AXES, [(130, 33)], why="More rows than classes."),
        *cases(ahead, AXES, [(5, 700)], label="targets first", why="A target at the front."),
        *cases(ignoring, AXES, [(30, 50), (4, 2500)], label="some ignored", why=NOT_COUNTED),
        *cases(ignoring, AXES, [(9, 70)], label="some ignored", engine_orders=True),
        *cases(make, AXES, [(1, 1), (1, 700), (300, 1), (15, 17), (4, 2)], part="edges"),
        *cases(make, AXES, [(3, 127), (3, 128), (3, 129), (3, 1023), (3, 1025)], part="edges"),
        *cases(make, AXES, [(3, 20_000)], part="edges", why="Longer than any block."),
        *cases(ignoring, AXES, [(2, 30)], part="edges", label="one ignored", why=NOT_COUNTED),
        *cases(make, AXES, [(0, 5)], part="edges", why="Nothing to do."),
        *cases(make, AXES, [(12, 70)], part="types", dtypes=HALVES),
        *cases(make, AXES, [(40, 3)], part="types", scale=3.0, dtypes=HALVES, why="Few classes."),
        *cases(ignoring, AXES, [(6, 3000)], part="types", dtypes=HALVES, label="some ignored"),
        *cases(make, AXES, [(12, 70), (4, 1700)], part="types", scale=100.0, why=OVERFLOW),
        *cases(make, AXES, [(12, 70)], part="types", scale=100.0, dtypes=HALVES, why=OVERFLOW),
        *cases(make, AXES, [(12, 70)], part="types", shift=-300.0, why="All far below zero."),
        *cases(make, AXES, [(3, 3000)], part="types", fills=["ramp"], why=RISING),
        *cases(
            behind,
            AXES,
            [(12, 70), (4, 1500), (3, 20_001)],
            part="types",
            fills=["neg_inf_head"],
            why=MASKED_HEAD,
        ),
        *cases(make, AXES, [(12, 70)], part="types", fills=["zeros"], why="All the same."),
        *cases(make, AXES, [(24, 36), (17, 50)], part="views", views=VIEWS),
        *cases(make, AXES, [(3, 2100)], part="views", views=["stepped_columns"], why="Long rows."),
    )


def none_counted(*more: Arg) -> Maker:
    """Return the maker of logits whose targets are all -100, with further arguments."""
    return lambda shape, **spec: (TensorSpec(shape, **spec), targets(shape[0], shape[1], 1), *more)


def all_hidden_not_counted(shape: tuple[int, ...], **spec: Any) -> tuple[Arg, ...]:
    """Return logits and targets: the rows that do not count hold nothing but -inf."""
    rows, classes = shape
    own = targets(rows, classes, 3)
    numbers = ((place * GOLDEN) % 1 * 4 - 2 for place in range(rows * classes))
    values = tuple(
        -math.inf if own.values[place // classes] == IGNORED else number
        for place, number in enumerate(numbers)
    )
    return TensorSpec(shape, values=values, **spec), own


CROSS_ENTROPY = Exercise(
    name="cross_entropy",
    lesson="capstone",
    title="The loss of a language model",
    parameters=("logits", "targets"),
    reference=cross_entropy,
    magnitude=cross_entropy_magnitude,
    dtype=torch.float32,
    cases=(
        *usual(BATCH, IGNORING, BEHIND, AHEAD),
        *cases(none_counted(), AXES, [(5, 40)], part="edges", label="all ignored"),
        *cases(
            all_hidden_not_counted,
            AXES,
            [(9, 40)],
            part="edges",
            label="ignored rows of -inf",
            why="Rows with the target -100, which hold only -inf.",
        ),
        *cases(none_counted(), AXES, [(40, 0)], part="edges", label="all ignored", why=NO_CLASSES),
    ),
    large=cases(IGNORING, AXES, [(523, 50_257), (70_001, 33)], part="edges", why="Many rows."),
    hints=(
        "The loss of a row is log(sum(exp(row))) minus one number of the row. Which of the two "
        "needs a loop over the row? What do you know from the softmax of long rows?",
        "If the target is -100, store 0.0 and load no logit. Otherwise loop over the row once, "
        "with a running maximum and a sum that is rescaled when the maximum grows. After the "
        "loop load the target's logit from `logits_ptr + row * stride_row + target * "
        "stride_col`.",
        "In the loop: `new_max = tl.maximum(row_max, tl.max(x, axis=0))`, `shift = "
        "tl.where(new_max == float('-inf'), 0.0, new_max)`, `sums = sums * tl.exp(row_max - "
        "shift) + tl.exp(x - shift)`, `row_max = new_max`. After the loop: `loss = (row_max - "
        "of_target) + tl.log(tl.sum(sums, axis=0))`.",
    ),
    challenge="Do not rescale the sum when the maximum grows: which cases still pass, and why?",
    misconceptions=LOSS_MISTAKES,
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

CROSS_ENTROPY_BACKWARD = Exercise(
    name="cross_entropy_backward",
    lesson="capstone",
    title="The loss of a language model, backward",
    parameters=("logits", "targets", "dloss"),
    reference=cross_entropy_backward,
    magnitude=cross_entropy_backward_magnitude,
    cases=(
        *usual(GIVEN, GIVEN_IGNORING, GIVEN_BEHIND, GIVEN_AHEAD),
        *cases(OF_A_SUM, AXES, [(40, 60)], label="dloss expanded", why="The gradient of a sum."),
        *cases(GARBAGE, AXES, [(20, 45)], label="garbage where ignored", why=NOT_COUNTED),
        *cases(
            with_dloss(view="stepped_columns"),
            AXES,
            [(30, 40)],
            part="views",
            label="dloss stepped",
        ),
        *cases(
            none_counted(TensorSpec((3,))),
            AXES,
            [(3, 0)],
            part="edges",
            label="all ignored",
            why=NO_CLASSES,
        ),
    ),
    large=cases(GIVEN_IGNORING, AXES, [(523, 50_257), (70_001, 33)], part="edges", why="Many."),
    hints=(
        "It is the softmax of a long row, as in lesson 07, with two small changes to what you "
        "store. You need not compute the loss.",
        "First pass: maximum and sum. Second pass: the probability of each column, minus 1 "
        "where the *column's number* is the target, times the row's dloss. For a row with the "
        "target -100 store zeros in all columns.",
        "`dloss = tl.load(dloss_ptr + row * stride_dloss)`. In the second pass: `share = "
        "tl.exp(x - row_max) / row_sum`, `dx = tl.where(cols == target, share - 1.0, share) * "
        "dloss`, and a store in the output's dtype. If the target is -100, use a loop that "
        "stores zeros instead.",
    ),
    challenge="Read dloss without its stride and check again: which cases still pass, and why?",
    misconceptions=GRADIENT_MISTAKES,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)

EXERCISES = (CROSS_ENTROPY, CROSS_ENTROPY_BACKWARD)
