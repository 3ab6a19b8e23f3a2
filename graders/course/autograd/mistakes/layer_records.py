"""The misconceptions about the way back through a linear layer, the special ones first."""

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
            "Where out is 0 the ReLU was closed: there dout counts for nothing. In this result it "
            "counts. (`out >= 0` is true everywhere.)"
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
            "Where the gradient passes is a question to the *output* of the layer: its shape is "
            "that of dout. Here x, w or dout itself was asked, or a result was masked at the end."
        ),
        next_step="`g = tl.where(out > 0, dout, 0.0)`.",
        expected_wrong=computes(wrong.mask_of_another),
    ),
    Misconception(
        code="out-multiplied",
        title="out is a factor, not a mask",
        message=(
            "dout is multiplied by out, or replaced by it. Of out it matters only whether it is "
            "above 0: the slope of a ReLU is 1 or 0."
        ),
        next_step="`g = tl.where(out > 0, dout, 0.0)`.",
        expected_wrong=computes(wrong.out_multiplied),
    ),
    Misconception(
        code="dout-left-out",
        title="dout does not enter the result",
        message="The sums hold the slope of the ReLU, 1 or 0, and not dout times that slope.",
        next_step="`g = tl.where(out > 0, dout, 0.0)`.",
        expected_wrong=computes(wrong.sign_taken),
    ),
)
DB_RACED = Misconception(
    code="db-raced",
    title="Several programs store to the same elements of db",
    message=(
        "Load, add, store are three steps. Two programs may load the same old number, and one "
        "of the two parts is lost. Programs that come one after another do not show it."
    ),
    next_step=(
        "Let one program own each element of db; or `tl.atomic_add` to float32 zeros; or "
        "store the parts apart and add them in a second kernel."
    ),
    detector=wrong.db_raced,
)
OF_DB = only(
    2,
    Misconception(
        code="db-along-rows",
        title="db holds the sums of the rows",
        message="The bias was added to every row: its gradient is the sum *over* the rows.",
        next_step="`tl.sum(g, axis=0)` of a tile with rows of the batch down its side.",
        expected_wrong=computes(wrong.db_along_rows),
    ),
    Misconception(
        code="db-of-every-tile",
        title="db is added once for every tile along k",
        message=(
            "The programs of all columns of tiles add the same sums to db, so that it is as many "
            "times too large as there are columns of tiles. Few columns do not show it."
        ),
        next_step="`if tl.program_id(axis=1) == 0:` before db is stored or added.",
        expected_wrong=computes_with_block(wrong.db_of_every_tile),
    ),
    Misconception(
        code="db-of-one-block",
        title="db holds one block of rows",
        message=(
            "The sum over the rows is that of the first or of the last block: what the loop, or "
            "another program, adds is lost."
        ),
        next_step="Start from zeros before the loop, and add in each step.",
        expected_wrong=computes_with_block(wrong.db_of_one),
    ),
)
OF_THE_PRODUCTS = (
    Misconception(
        code="dw-transposed",
        title="dw is x.T @ g, not g.T @ x",
        message="dw has the shape of w, (n, k): a row for each output. Its transpose was stored.",
        next_step='`accumulator = tl.dot(g.T, x, accumulator, input_precision="ieee")`.',
        expected_wrong=computes(wrong.dw_transposed),
        result=1,
    ),
    Misconception(
        code="factor-not-turned",
        title="A factor is read with rows and columns exchanged",
        message=(
            "dx is g @ w, with w as it lies, (n, k); dw is g.T @ x. Here one of the three is "
            "turned that should not be, or not turned that should. Square matrices let it pass."
        ),
        next_step="Write the shapes beside each product: (m, n) @ (n, k), and (n, m) @ (m, k).",
        expected_wrong=computes_from_memory(wrong.factor_not_turned),
        detector=wrong.rows_left,
    ),
    Misconception(
        code="divided-by-rows",
        title="The gradients are divided by the number of rows",
        message="A mean over the batch is the loss's affair: it has come in with dout already.",
        next_step="Leave the sums as they are.",
        expected_wrong=computes(wrong.divided_by_rows),
    ),
    Misconception(
        code="db-without-k",
        title="Without columns in x, db is left at 0",
        message=(
            "Where k is 0, x and w are empty, and dx and dw with them. But db is not: it is the "
            "sum of the rows of dout that passed, and has nothing to do with x. An early return "
            "for an empty x, or a grid of no programs, leaves it out."
        ),
        next_step="Ask for each result by itself whether it is empty: db has n numbers.",
        expected_wrong=computes(wrong.without_columns),
    ),
    Misconception(
        code="sum-cut",
        title="The end of a sum is left out",
        message=(
            "The walk along n (for dx) or along m (for dw and db) sees the first block, or the "
            "full blocks, only: the loop is missing, goes by another size, or rounds down."
        ),
        next_step="dx: `range(0, N, BLOCK)`; dw and db: `range(0, M, BLOCK)`, masked at the end.",
        expected_wrong=computes_with_block(wrong.sums_cut),
    ),
    Misconception(
        code="accumulator-overwritten",
        title="Each step overwrites the sum of the steps before",
        message="The result holds the last block of the sum alone.",
        next_step="`accumulator = tl.dot(g, w, accumulator)`, from zeros before the loop.",
        expected_wrong=computes_with_block(wrong.last_block_alone),
    ),
    Misconception(
        code="block-repeated",
        title="Every step of the loop meets the same block",
        message="The offsets of one factor, or of both, are those of the first block in each step.",
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
    by_magnitude = (rounding.accumulates_in_half, rounding.tf32_product, rounding.terms_in_half)
    return tuple(joined(*(make(_terms(n)) for n in range(3))) for make in by_magnitude)


DOUT_LIKE_OUT = Misconception(
    code="strides-exchanged",
    title="dout is read with the strides of out",
    message=(
        "dout and out have one shape, and lie in memory each in its own way. After "
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
