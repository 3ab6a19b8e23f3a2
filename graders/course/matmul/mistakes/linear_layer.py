"""A layer relu(x @ w.T + b), as mistakes would compute it."""

from __future__ import annotations

import torch

from graders.course.common.elementwise import OTHER_ACTIVATIONS
from graders.course.common.expected import (
    computes,
    computes_from_memory,
    computes_with_block,
    each,
    read_as,
)
from graders.course.common.strays import has_left
from graders.course.matmul.mistakes.product import product_mistakes
from graders.course.matmul.reference import layer, layer_magnitude
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence, Misconception


def _bias_by_row(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """Rows beyond the last bias get none, or the first ones again."""
    if not len(b):
        return []
    row = torch.arange(x.shape[0])
    masked = torch.where(row < len(b), b[row.clamp(max=len(b) - 1)], 0.0)
    return [torch.relu(x @ w.t() + bias[:, None]) for bias in (masked, b[row % len(b)])]


def _weight_unturned(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """The weight is read as it lies, as if it were its transpose, with its strides or dense."""
    shape = tuple(w.t().shape)
    read = each(read_as(w, shape, strides) for strides in {w.stride(), (w.shape[0], 1)})
    return [torch.relu(x.double() @ other.double() + b.double()) for other in read]


def _rounded_before_bias(evidence: Evidence) -> bool:
    """Whether a half-precision product was rounded, and bias and ReLU computed with that."""
    actual = evidence.actual
    if actual is None or actual.dtype not in (torch.float16, torch.bfloat16):
        return False
    x, w, b = widened(evidence.args)
    early = torch.relu((x @ w.t()).to(actual.dtype).double() + b).to(actual.dtype)
    late = evidence.expected.to(actual.dtype)
    telling = early != late
    if int(telling.sum()) < FEWEST_TELLING:
        return False
    return float((actual == early)[telling].double().mean()) > MOST_AGREE


FEWEST_TELLING = 8  # elements in which rounding early shows at all
MOST_AGREE = 0.8  # the share of them that a product summed in another order may leave


def _weight_left(evidence: Evidence) -> bool:
    """Whether the kernel left a weight that is not square."""
    weight = evidence.args[1]
    return weight.shape[0] != weight.shape[1] and has_left(evidence, weight)


def _bias_of_first_rows(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor | None:
    """Columns have a bias as far as there are rows."""
    if x.shape[0] >= len(b):
        return None
    return torch.relu(x @ w.t() + torch.where(torch.arange(len(b)) < x.shape[0], b, 0.0))


def _bias_left(evidence: Evidence) -> bool:
    """Whether the bias was left, where there are more rows than columns."""
    x, _, b = evidence.args
    return x.shape[0] > len(b) and has_left(evidence, b)


def _zeros_for_empty_product(evidence: Evidence) -> bool:
    """Tell whether a layer without inputs gave zeros where relu(b) is due."""
    x, actual = evidence.args[0], evidence.actual
    if actual is None or x.shape[1] or not bool(evidence.expected.any()):
        return False
    return not bool(actual.any())


def _bias_in_each_step(
    block: int, x: torch.Tensor, w: torch.Tensor, b: torch.Tensor
) -> torch.Tensor:
    return torch.relu(x @ w.t() + -(-x.shape[1] // block) * b)


def _other_activations(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    result = x @ w.t() + b
    others = [
        activation(result) for activation in OTHER_ACTIVATIONS if activation is not torch.relu
    ]
    return [*others, (result > 0).to(result.dtype), result * (result > 1)]


def _other_bias(
    block: int, x: torch.Tensor, w: torch.Tensor, b: torch.Tensor
) -> list[torch.Tensor]:
    """The bias of the lane, not of the column; or that of the first column for all."""
    if not 1 < block < len(b):
        return []
    lanes = torch.arange(len(b)) % block
    return [torch.relu(x @ w.t() + other) for other in (b[lanes], b[:1])]


def _relu_in_each_step(
    block: int, x: torch.Tensor, w: torch.Tensor, b: torch.Tensor
) -> list[torch.Tensor]:
    """Cut off before each step over k, after each step, or product by product.

    After each step with the bias in the sum, too.
    """
    before = after = torch.zeros(x.shape[0], w.shape[0], dtype=x.dtype)
    biased = after + b
    if x.shape[1] > 64 * block:
        return []
    for start in range(0, x.shape[1], block):
        part = x[:, start : start + block] @ w[:, start : start + block].t()
        before, after = torch.relu(before) + part, torch.relu(after + part)
        biased = torch.relu(biased + part)
    single = torch.relu(x) @ torch.relu(w).t() + torch.relu(-x) @ torch.relu(-w).t()
    return [biased, *(torch.relu(result + b) for result in (before, after, single))]


SPECIAL = (
    Misconception(
        code="epilogue-in-half",
        title="The product is rounded before bias and ReLU",
        message=(
            "The product is rounded to half precision *before* the bias is added, and once more "
            "after it. Where product and bias nearly cancel, mostly rounding error remains."
        ),
        next_step=(
            "Add `bias.to(tl.float32)` to the float32 accumulator, apply the ReLU, and convert "
            "once, at the store."
        ),
        detector=_rounded_before_bias,
    ),
    Misconception(
        code="bias-missing",
        title="The bias is missing",
        message="The output is relu(x @ w.T): the bias is not added.",
        next_step="Load the bias of the tile's columns, and add it before the ReLU.",
        expected_wrong=computes(lambda x, w, b: torch.relu(x @ w.t())),
    ),
    Misconception(
        code="relu-missing",
        title="The ReLU is missing",
        message="The output is x @ w.T + b, with its negative numbers.",
        next_step="Store `tl.maximum(result, 0.0)`.",
        expected_wrong=computes(lambda x, w, b: x @ w.t() + b),
    ),
    Misconception(
        code="relu-before-bias",
        title="The ReLU comes before the bias",
        message=(
            "The output is relu(x @ w.T) + b. A negative sum that the bias would have made "
            "positive is lost, and a negative bias can make the output negative."
        ),
        next_step="Add the bias first, apply the ReLU last.",
        expected_wrong=computes(lambda x, w, b: torch.relu(x @ w.t()) + b),
    ),
    Misconception(
        code="bias-by-row",
        title="The bias is added along the wrong axis",
        message=(
            "Each *row* gets its own bias. A layer has one bias for each output feature, that is, "
            "for each column of the output."
        ),
        next_step="Load it with the column offsets and broadcast it over the rows: "
        "`bias[None, :]`.",
        expected_wrong=computes(_bias_by_row),
    ),
    Misconception(
        code="empty-product-left-out",
        title="With k = 0 the bias is missing",
        message=(
            "If k is 0 the product is zero, and the result is relu(b) in every row. The launcher "
            "returned zeros."
        ),
        next_step="Return early only if the *output* has no elements: `if output.numel() == 0`.",
        detector=_zeros_for_empty_product,
    ),
    Misconception(
        code="bias-in-each-step",
        title="The bias is added once for every block of k",
        message=(
            "The bias is added inside the loop over k, or both before and after it. So it counts "
            "several times; with a k that fits into one block this may not show."
        ),
        next_step="Add it once, after the loop (or start the accumulator with it).",
        expected_wrong=computes_with_block(_bias_in_each_step),
    ),
    Misconception(
        code="relu-in-each-step",
        title="The ReLU is applied before the sum is complete",
        message=(
            "Partial sums are cut off at zero inside the loop over k. The ReLU of a sum is not "
            "the sum of ReLUs."
        ),
        next_step="Apply the ReLU once, after the loop and after the bias.",
        expected_wrong=computes_with_block(_relu_in_each_step),
    ),
    Misconception(
        code="relu-on-input",
        title="The ReLU is applied to the input",
        message=(
            "The ReLU is applied to x before the product. The layer applies it to the *result* "
            "only."
        ),
        next_step="Multiply x as it is, add the bias, then `tl.maximum(result, 0.0)`.",
        expected_wrong=computes(
            lambda x, w, b: torch.relu(torch.relu(x) @ w.t() + b),
            lambda x, w, b: torch.relu(x) @ w.t() + b,
        ),
    ),
    Misconception(
        code="bias-of-other-columns",
        title="Each tile gets the bias of the first columns",
        message=(
            "All tiles use the bias of the first columns, or that of column 0. The offsets of its "
            "load do not depend on the program."
        ),
        next_step="Load the bias with the column offsets of the tile, `b_ptr + offs_n * stride_b`.",
        expected_wrong=computes_with_block(_other_bias),
    ),
    Misconception(
        code="bias-masked-by-rows",
        title="The mask of the bias counts rows, not columns",
        message=(
            "The bias has n numbers, one for each column. Its load compares the columns with m, "
            "the number of rows, so it loads too few or too many."
        ),
        next_step="`tl.load(b_ptr + offs_n * stride_b, mask=offs_n < n, other=0.0)`.",
        expected_wrong=computes(_bias_of_first_rows),
        detector=_bias_left,
    ),
    Misconception(
        code="bias-subtracted",
        title="The bias is subtracted",
        message="The output is relu(x @ w.T - b).",
        next_step="Add the bias to the product.",
        expected_wrong=computes(lambda x, w, b: torch.relu(x @ w.t() - b)),
    ),
    Misconception(
        code="other-activation",
        title="The activation is not ReLU",
        message=(
            "The output is another function of x @ w.T + b: for example a leaky or smooth "
            "variant, `tl.minimum`, an absolute value, or another threshold than 0."
        ),
        next_step="Use `tl.maximum(result, 0.0)`: negative numbers become 0, others stay.",
        expected_wrong=computes(_other_activations),
    ),
    Misconception(
        code="weight-not-transposed",
        title="The product is x @ w instead of x @ w.T",
        message=(
            "w has the shape (n, k), with one row for each output feature, as in torch.nn.Linear. "
            "The kernel reads it as (k, n). A square weight hides this."
        ),
        next_step=(
            "Read the (BLOCK_K, BLOCK_N) tile of w.T as `offs_n[None, :] * stride_wn + offs_k[:, "
            "None] * stride_wk`."
        ),
        expected_wrong=computes_from_memory(_weight_unturned),
        detector=_weight_left,
    ),
)

MISTAKES = product_mistakes(
    reference=layer,
    magnitude=layer_magnitude,
    operands=lambda x, w, b: (x, w.t()),
    finish=lambda product, x, w, b: torch.relu(product + b),
    special=SPECIAL,
)
