"""The misconceptions about the backward pass of a linear layer, the special ones first."""

from __future__ import annotations

from collections.abc import Callable

import torch

from graders.course.autograd.mistakes import layer_results as wrong
from graders.course.autograd.reference import layer_backward, layer_terms
from graders.course.common import rounding, shared
from graders.course.common.expected import computes, computes_from_memory, computes_with_block
from graders.course.common.several import joined, only
from graders.judge.records import Misconception

OF_THE_MASK = (
    Misconception(
        code="mask-missing",
        title="The gradient passes everywhere",
        message=(
            "Where out is 0 the ReLU was closed, so dout must not count there, but it does. "
            "(`out >= 0` is true everywhere.)"
        ),
        next_step="`g = tl.where(out > 0, dout, 0.0)`, in every kernel that loads dout.",
        expected_wrong=computes(wrong.mask_missing),
    ),
    Misconception(
        code="mask-reversed",
        title="The gradient passes where the ReLU was closed",
        message="dout is set to 0 where out is above 0, and kept where out is 0.",
        next_step="`g = tl.where(out > 0, dout, 0.0)`.",
        expected_wrong=computes(wrong.mask_reversed),
    ),
    Misconception(
        code="mask-of-another",
        title="The mask comes from another tensor than out",
        message=(
            "The mask must come from the layer's *output*, which has the shape of dout. Here "
            "it comes from x, w or dout, or a result was masked at the end."
        ),
        next_step="`g = tl.where(out > 0, dout, 0.0)`.",
        expected_wrong=computes(wrong.mask_of_another),
    ),
    Misconception(
        code="out-multiplied",
        title="out is a factor, not a mask",
        message=(
            "The kernel multiplies dout by out, or replaces it by out. Only whether out is "
            "above 0 matters: the slope of a ReLU is 1 or 0."
        ),
        next_step="`g = tl.where(out > 0, dout, 0.0)`.",
        expected_wrong=computes(wrong.out_multiplied),
    ),
    Misconception(
        code="mask-multiplied",
        title="Infinity and NaN pass through the closed ReLU",
        message=(
            "The kernel multiplies dout by 0 where the ReLU was closed. Infinity times 0 is NaN, "
            "and so is NaN times 0, so one such number reaches the sums."
        ),
        next_step="Select in place of the product: `g = tl.where(out > 0, dout, 0.0)`.",
        detector=wrong.mask_multiplied,
    ),
    Misconception(
        code="dout-left-out",
        title="dout does not enter the result",
        message="The sums contain the slope of the ReLU, 1 or 0, and not dout times that slope.",
        next_step="`g = tl.where(out > 0, dout, 0.0)`.",
        expected_wrong=computes(wrong.sign_taken),
    ),
)
DB_RACED = Misconception(
    code="db-raced",
    title="Several programs store to the same elements of db",
    message=(
        "Load, add and store are three steps. If two programs load the same old number, "
        "one of the two parts is lost."
    ),
    next_step=(
        "Let one program own each element of db, use `tl.atomic_add` on float32 zeros, or "
        "store parts and add them in a second kernel."
    ),
    detector=wrong.db_raced,
)
OF_DB = only(
    2,
    Misconception(
        code="db-along-rows",
        title="db holds the sums of the rows",
        message=(
            "The forward pass adds the bias to every row, so its gradient is the sum *over* "
            "the rows."
        ),
        next_step="`tl.sum(g, axis=0)` of a tile in which axis 0 counts rows of the batch.",
        expected_wrong=computes(wrong.db_along_rows),
    ),
    Misconception(
        code="db-of-every-tile",
        title="db is added once for every tile along k",
        message=(
            "The programs of all columns of tiles add the same sums to db. So db is too large "
            "by the number of columns of tiles."
        ),
        next_step="`if tl.program_id(axis=1) == 0:` before db is stored or added.",
        expected_wrong=computes_with_block(wrong.db_of_every_tile),
    ),
    Misconception(
        code="db-of-one-block",
        title="db holds the sum of one block of rows",
        message=(
            "db has only the sum of the first or the last block of rows. The other blocks are lost."
        ),
        next_step="Start from zeros before the loop, and add in each step.",
        expected_wrong=computes_with_block(wrong.db_of_one),
    ),
)
OF_THE_PRODUCTS = (
    Misconception(
        code="dw-transposed",
        title="dw is x.T @ g, not g.T @ x",
        message=(
            "dw has the shape of w, (n, k), with a row for each output. You stored its transpose."
        ),
        next_step='`accumulator = tl.dot(g.T, x, accumulator, input_precision="ieee")`.',
        expected_wrong=computes(wrong.dw_transposed),
        result=1,
    ),
    Misconception(
        code="factor-not-turned",
        title="An operand has rows and columns exchanged",
        message=(
            "dx is g @ w and dw is g.T @ x. Here one of these operands is transposed that "
            "should not be, or not transposed that should. Square matrices hide it."
        ),
        next_step="Write the shapes beside each product: (m, n) @ (n, k), and (n, m) @ (m, k).",
        expected_wrong=computes_from_memory(wrong.factor_not_turned),
        detector=wrong.rows_left,
    ),
    Misconception(
        code="divided-by-rows",
        title="The gradients are divided by the number of rows",
        message="If the loss is a mean over the batch, dout already contains that factor.",
        next_step="Store the sums without a division.",
        expected_wrong=computes(wrong.divided_by_rows),
    ),
    Misconception(
        code="db-without-k",
        title="If x has no columns, db stays at 0",
        message=(
            "If k is 0, dx and dw are empty, but db is not: it does not depend on x. An early "
            "return for an empty x, or a grid without programs, skips it."
        ),
        next_step="Test for each result separately whether it is empty: db has n numbers.",
        expected_wrong=computes(wrong.without_columns),
    ),
    Misconception(
        code="sum-cut",
        title="The end of a sum is missing",
        message=(
            "The loop along n (for dx) or m (for dw and db) covers only the first block or "
            "the full blocks: it is missing, uses another size, or rounds down."
        ),
        next_step="dx: `range(0, N, BLOCK)`; dw and db: `range(0, M, BLOCK)`, masked at the end.",
        expected_wrong=computes_with_block(wrong.sums_cut),
    ),
    Misconception(
        code="accumulator-overwritten",
        title="Each step overwrites the sum of the steps before",
        message="The result holds only the last block of the sum.",
        next_step="`accumulator = tl.dot(g, w, accumulator)`, starting from zeros before the loop.",
        expected_wrong=computes_with_block(wrong.last_block_alone),
    ),
    Misconception(
        code="block-repeated",
        title="Every step of the loop loads the same block",
        message="The offsets of one operand, or both, are those of the first block in each step.",
        next_step="Compute them in the loop: `inner = start + tl.arange(0, BLOCK)`.",
        expected_wrong=computes_with_block(wrong.block_repeated),
    ),
)


def _terms(number: int) -> Callable[..., torch.Tensor]:
    """The absolute terms of result `number`."""

    def terms(*args: torch.Tensor) -> torch.Tensor:
        return layer_terms(*args)[number]

    return terms


def _rounded() -> tuple[Misconception, ...]:
    """The mistakes of precision, each as it shows in the three results."""
    by_magnitude = (rounding.accumulates_in_half, rounding.terms_in_half)
    of_each = (joined(*(make(_terms(n)) for n in range(3))) for make in by_magnitude)
    return (rounding.tf32_product(), *of_each)


DOUT_LIKE_OUT = Misconception(
    code="strides-exchanged",
    title="dout is read with the strides of out",
    message=(
        "dout and out have the same shape, but their strides can differ. After "
        "`.sum().backward()` the strides of dout are 0, while out is dense."
    ),
    next_step="Pass `dout.stride()`, and use it for dout alone.",
    expected_wrong=computes_from_memory(wrong.dout_like_out),
    detector=wrong.dout_left,
)

MISTAKES = (
    DOUT_LIKE_OUT,
    shared.contiguous_assumed(layer_backward),
    shared.other_missing("0.0"),
    *OF_THE_MASK,
    DB_RACED,
    *OF_DB,
    *OF_THE_PRODUCTS,
    *_rounded(),
    shared.missing_mask("a matrix", "M and N"),
    shared.axis_ignores_pid(),
    shared.tiles_missing("rows", "columns"),
    shared.offset_ignores_pid(),
    shared.programs_race("A tile of dx or dw, or a part of db, belongs to several programs."),
)
