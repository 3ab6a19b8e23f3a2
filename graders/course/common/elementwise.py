"""Mistakes of elementwise kernels: one element in, one out, with any formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import torch
from torch.nn import functional

from graders.course.common.expected import BLOCK_SIZES, Result, computes, computes_with_block, each
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import ONE_PROGRAM, looks_like
from graders.judge.records import Evidence, Misconception

TELLING_BLOCKS = BLOCK_SIZES[2:]  # blocks of 1 or 2 elements may match by chance
LEAST_NEGATIVE, LEAST_SLOPE = 1e-3, 1e-4  # smaller slopes are rounding
FEWEST = 32  # this many equal elements are not equal by chance

OTHER_ACTIVATIONS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    torch.relu,
    torch.abs,
    partial(torch.clamp, max=0.0),
    lambda x: torch.relu(-x),
    functional.relu6,
    *(partial(functional.leaky_relu, negative_slope=slope) for slope in (0.01, 0.1, 0.2)),
    functional.elu,
    functional.silu,
    lambda x: x * torch.sigmoid(1.702 * x),
    functional.gelu,
    partial(functional.gelu, approximate="tanh"),
    torch.sigmoid,
    torch.tanh,
    functional.softplus,
    partial(torch.clamp, min=0.0, max=1.0),
    partial(torch.clamp, min=1.0),
)


def load_ignores_pid(reference: Result) -> Misconception:
    """Return the misconception of an input that every program loads from its beginning."""

    def from_first_block(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
        if block >= args[0].numel() or not all(arg.is_contiguous() for arg in args):
            return []
        choices = list(product((False, True), repeat=len(args)))[1:]
        return each(reference(*widened(_stuck(block, args, stuck))) for stuck in choices)

    return Misconception(
        code="load-ignores-pid",
        title="Every program loads the first block",
        message=(
            "The results are stored at the correct places, but every program computed them from "
            "the first block: the pointers of a load do not depend on `tl.program_id`. A vector "
            "of one block does not show it."
        ),
        next_step=(
            "Add the same `offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)` to every "
            "pointer: that of each load and of the store."
        ),
        expected_wrong=computes_with_block(
            from_first_block, blocks=TELLING_BLOCKS, in_memory=True, unless=frozenset({ONE_PROGRAM})
        ),
    )


def _stuck(block: int, args: tuple[Any, ...], stuck: tuple[bool, ...]) -> tuple[Any, ...]:
    """The arguments as seen by programs that always load the first block of some of them."""
    return tuple(
        _first_block_again(arg, block) if chosen else arg
        for arg, chosen in zip(args, stuck, strict=True)
    )


def _first_block_again(arg: torch.Tensor, block: int) -> torch.Tensor:
    first, count = arg.reshape(-1)[:block], arg.numel()
    return first.repeat(math.ceil(count / block))[:count].reshape(arg.shape)


def through_integers() -> Misconception:
    """Return the misconception of floating-point values that lost their fractions."""

    def detector(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or not actual.is_floating_point():
            return False
        known = actual.isfinite() & evidence.expected.isfinite()
        got, want = actual[known].double(), evidence.expected[known].double()
        if not bool(got.any()) or not bool((got == got.round()).all()):
            return False
        # Each input, or each channel of one, may have been truncated on its own.
        room = max(1, sum(_parts(arg) for arg in evidence.args))
        fractions = want != want.round()
        return bool(fractions.any()) and bool(((got - want).abs() < room).all())

    return Misconception(
        code="through-integers",
        title="The fractions are gone",
        message=(
            "The tensors hold floating-point numbers, but every result is a whole number: the "
            "values went through an integer type, or were rounded."
        ),
        next_step=(
            "Look for `.to(tl.int32)`, `.to(tl.uint8)`, `//`, `tl.floor` and for the dtype of the "
            "output. Convert to the *output's* dtype, `output_ptr.dtype.element_ty`, and only at "
            "the store."
        ),
        detector=detector,
    )


def _parts(arg: object) -> int:
    """How many numbers of an argument enter one result: three channels, or one element."""
    if not isinstance(arg, torch.Tensor):
        return 0
    return arg.shape[0] if arg.dim() == 3 and arg.shape[0] == 3 else 1


def block_reduced() -> Misconception:
    """Return the misconception of a block that was reduced to one number and stored everywhere."""

    def detector(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or actual.numel() < FEWEST or not bool(actual.any()):
            return False
        flat, want = actual.reshape(-1), evidence.expected.reshape(-1)
        return any(
            _constant(flat, block) and not _constant(want, block) for block in TELLING_BLOCKS
        )

    return Misconception(
        code="block-reduced",
        title="A whole block has one and the same result",
        message=(
            "All elements of a block hold the same number: the block was reduced. `tl.max(x, "
            "axis)`, `tl.min` and `tl.sum` turn a block into one number; `tl.maximum(a, b)` and "
            "`tl.minimum(a, b)` compare two blocks element by element."
        ),
        next_step="Use `tl.maximum(x, 0.0)` or `tl.where(x > 0, x, 0.0)`.",
        detector=detector,
    )


def _constant(flat: torch.Tensor, block: int) -> bool:
    """Whether each stretch of `block` elements has one value, and several values occur."""
    first = flat[torch.arange(flat.numel()) // block * block]
    same = (flat == first) | (flat.isnan() & first.isnan())
    return bool(same.all()) and not bool(flat.isnan().all())


def infinity_times_zero() -> Misconception:
    """Return the misconception of a selection by multiplication, as in x * (x > 0)."""

    def detector(evidence: Evidence) -> bool:
        (x,), actual = evidence.args, evidence.actual
        if actual is None or not x.is_floating_point():
            return False
        strange = actual.isnan() & ~x.isnan()
        return bool(strange.any()) and torch.equal(strange, x == -math.inf)

    return Misconception(
        code="infinity-times-zero",
        title="Minus infinity becomes NaN",
        message=(
            "Every finite number is correct. But the kernel calculates where it should select, "
            "and with -inf that gives NaN: `x * (x > 0)` is -inf * 0, and `(x + tl.abs(x)) / 2` "
            "is -inf + inf."
        ),
        next_step="Select with `tl.where(x > 0, x, 0.0)`, or use `tl.maximum(x, 0.0)`.",
        detector=detector,
    )


def another_activation(wanted: str, before: Result) -> Misconception:
    """Return the misconception of a different activation from the required one.

    `before(*args)` is the value to which the activation `wanted` is applied.
    """

    def otherwise_activated(*args: Any) -> list[torch.Tensor]:
        argument = before(*args)
        return [] if argument is None else [other(argument) for other in OTHER_ACTIVATIONS]

    def leaky(evidence: Evidence) -> bool:
        argument, actual = before(*widened(evidence.args)), evidence.actual
        if argument is None or actual is None:
            return False
        negative = (argument < -LEAST_NEGATIVE) & argument.isfinite()
        if int(negative.sum()) < FEWEST:
            return False
        slope = float((actual.double()[negative] / argument[negative]).median())
        wrong = torch.where(argument > 0, argument, slope * argument)
        return abs(slope) > LEAST_SLOPE and looks_like(evidence, wrong)

    return Misconception(
        code="another-activation",
        title="This is another activation function",
        message=(
            "Each element is computed from the correct input, but with another function, such as "
            "|x|, max(-x, 0), or a leaky, clipped or smooth variant (ReLU6, ELU, SiLU, GELU). The "
            f"contract asks for {wanted}."
        ),
        next_step=f"Compare your formula with {wanted} at -1, at 0.5 and at 10.",
        expected_wrong=computes(otherwise_activated),
        detector=leaky,
    )
