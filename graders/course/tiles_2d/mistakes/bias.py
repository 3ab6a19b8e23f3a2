"""The wrong results of bias and ReLU that known mistakes compute, and their messages."""

from __future__ import annotations

import torch

from graders.course.common.detectors import READS_OUTSIDE, has_fault
from graders.course.common.expected import (
    computes,
    computes_from_memory,
    computes_with_block,
    read_as,
)
from graders.course.common.strays import has_left
from graders.course.tiles_2d.reference import bias_relu
from graders.judge.records import Evidence, Misconception


def _bias_by_row(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor | None:
    """Return x with a bias for each row, and NaN in the rows after the last bias."""
    if bias.numel() < 2:
        return None
    below = x.new_full((max(x.shape[0] - bias.numel(), 0),), float("nan"))
    return torch.relu(x + torch.cat((bias, below))[: x.shape[0], None])


def _bias_left_for_rows(evidence: Evidence) -> bool:
    """Return whether there are more rows than biases and a load left its tensor."""
    x, bias = evidence.args
    too_few = x.shape[0] > bias.numel() > 1
    return too_few and has_fault(evidence, READS_OUTSIDE)


def _bias_side_by_side(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor | None:
    if bias.is_contiguous():
        return None
    read = read_as(bias, tuple(bias.shape), (1,))
    return None if read is None else bias_relu(x.double(), read.double())


def _bias_left(evidence: Evidence) -> bool:
    """Return whether the load that left its tensor is the load of the bias."""
    x, bias = evidence.args
    return x.shape != bias.shape and has_left(evidence, bias, frozenset({"out-of-bounds-load"}))


def _first_biases(block: int, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.relu(x + bias[torch.arange(bias.numel()) % block])


def _of_first_row(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    first = torch.arange(x.shape[0])[:, None] == 0
    return torch.relu(torch.where(first, x + bias, x))


def read_elsewhere(values: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return the result of these values of x with the biases of the columns they came from."""
    return torch.relu(values.double() + bias.double()[columns])


BIAS_MISTAKES = (
    Misconception(
        code="bias-missing",
        title="The bias is missing",
        message="The output is relu(x): the kernel does not add the bias.",
        next_step="Add `bias[None, :]` to the tile before the ReLU.",
        expected_wrong=computes(lambda x, bias: torch.relu(x)),
    ),
    Misconception(
        code="relu-missing",
        title="Negative numbers pass through",
        message="The output is x + bias: the ReLU is missing.",
        next_step="Store `tl.maximum(result, 0.0)`.",
        expected_wrong=computes(lambda x, bias: x + bias),
    ),
    Misconception(
        code="relu-before-bias",
        title="The ReLU comes before the bias",
        message=(
            "The sign of x alone decides which elements become 0, as in relu(x) + bias. The sign "
            "of x + bias should decide."
        ),
        next_step="Add the bias first, then apply the ReLU.",
        expected_wrong=computes(
            lambda x, bias: torch.relu(x) + bias,
            lambda x, bias: torch.relu(x) + torch.relu(bias),
            lambda x, bias: x + torch.relu(bias),
            lambda x, bias: torch.where(x > 0, x + bias, 0.0),
        ),
    ),
    Misconception(
        code="wrong-operation",
        title="The bias is combined with x, but not added once",
        message=(
            "The kernel uses the correct bias for each element, but subtracts it, multiplies by "
            "it, compares with it, or adds it twice."
        ),
        next_step="Store `tl.maximum(x + bias[None, :], 0.0)`.",
        expected_wrong=computes(
            lambda x, bias: torch.relu(x - bias),
            lambda x, bias: torch.relu(bias - x),
            lambda x, bias: torch.relu(x * bias),
            lambda x, bias: torch.relu(x + 2 * bias),
            lambda x, bias: torch.maximum(x, bias.expand_as(x)),
        ),
    ),
    Misconception(
        code="bias-by-flat-offset",
        title="Only the first row gets the bias",
        message=(
            "The kernel loads the bias with the element's number in the whole matrix. From "
            "the second row on, that number is past the end of the bias, and the mask makes "
            "the bias 0."
        ),
        next_step="The bias belongs to the column: load it with `offsets % n_cols`.",
        expected_wrong=computes(_of_first_row),
    ),
    Misconception(
        code="bias-by-row",
        places=True,
        title="The bias is added along the wrong axis",
        message=(
            "The kernel adds one bias per row. The bias has one number per *column*, the same "
            "for all rows."
        ),
        next_step="Load it with the column offsets and use `bias[None, :]`.",
        expected_wrong=computes(_bias_by_row),
        detector=_bias_left_for_rows,
    ),
    Misconception(
        code="bias-of-first-tile",
        title="Every tile adds the first biases",
        message=(
            "The kernel always loads the bias from its beginning, with `tl.arange(0, BLOCK_N)` "
            "and without the start of the program's tile."
        ),
        next_step="Load the bias with the same `cols` that you use for x.",
        expected_wrong=computes_with_block(_first_biases),
    ),
    Misconception(
        code="bias-stride-ignored",
        places=True,
        title="The stride of the bias is ignored",
        message=(
            "The bias in this case is a view whose elements are not contiguous. The kernel "
            "ignores its stride, so every bias except the first comes from the wrong address."
        ),
        next_step="Pass `bias.stride(0)` and load from `bias_ptr + cols * stride_bias`.",
        expected_wrong=computes_from_memory(_bias_side_by_side),
    ),
    Misconception(
        code="bias-mask-missing",
        places=True,
        title="The load of the bias goes past its end",
        message=(
            "Lanes after the last column read past the end of the bias, because its load does "
            "not mask the columns."
        ),
        next_step="`bias = tl.load(bias_ptr + cols * stride_bias, mask=cols < n_cols)`.",
        detector=_bias_left,
    ),
)
