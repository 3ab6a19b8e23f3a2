"""Softmax of rows that start anywhere: sixteen bytes at a time all the same.

A row of 50257 half-precision numbers is no multiple of 16 bytes, so nearly every row starts in the
middle of such a piece, and Triton loads each number alone. But the matrix as a whole lies without
gaps. So a program rounds the start of its row down to a whole vector of 8 numbers, loads whole
vectors, and leaves out what belongs to the neighbours. It stores the vectors that are all its own;
the few numbers at both ends are computed and stored once more, one by one.
"""

import math

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(math.log2(math.e))  # exp(x) is exp2(x * LOG2_E)
SMALLEST = tl.constexpr(-1e38)  # not -inf: -inf minus -inf would be NaN
VECTOR = 8


@triton.jit
def load_mine(
    x_ptr, start, first, n_cols, n_vectors, cols, VECTOR: tl.constexpr, INSIDE: tl.constexpr
):
    """Load the numbers at `start` + cols, in float32; -inf for those of other rows.

    The row has n_cols numbers, from start + first on, and the matrix n_vectors whole vectors.
    INSIDE: whether all of these numbers are known to be of this row.
    """
    if INSIDE:
        return tl.load(x_ptr + start + cols).to(tl.float32)
    # The mask is the same for the 8 numbers of a vector: only so are they loaded together.
    exists = start // VECTOR + cols // VECTOR < n_vectors
    x = tl.load(x_ptr + start + cols, mask=exists, other=float("-inf"))
    return tl.where((cols >= first) & (cols < first + n_cols), x.to(tl.float32), float("-inf"))


@triton.jit
def take_in(maxima, sums, x):
    """Return the maxima and sums of all columns after the block x."""
    new_maxima = tl.maximum(maxima, tl.max(x, axis=0))
    terms = tl.sum(tl.exp2((x - new_maxima[None, :]) * LOG2_E), axis=0)
    return new_maxima, sums * tl.exp2((maxima - new_maxima) * LOG2_E) + terms


@triton.jit
def softmax_odd_kernel(
    x_ptr, output_ptr, n_cols, n_vectors,
    VECTOR: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Compute the softmax of one row, DEPTH x WIDTH numbers at a time, in two walks.

    Only its first and its last block reach into other rows: the others need no masks.
    """
    begin = tl.program_id(axis=0).to(tl.int64) * n_cols
    start = begin // VECTOR * VECTOR
    first = (begin - start).to(tl.int32)
    offsets = tl.arange(0, DEPTH)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    maxima = tl.full((WIDTH,), SMALLEST, dtype=tl.float32)
    sums = tl.zeros((WIDTH,), dtype=tl.float32)
    n_blocks = tl.cdiv(first + n_cols, DEPTH * WIDTH)
    step = tl.maximum(n_blocks - 1, 1)  # from the first block to the last
    for i in range(0, n_blocks, step):
        cols = i * (DEPTH * WIDTH) + offsets
        x = load_mine(x_ptr, start, first, n_cols, n_vectors, cols, VECTOR, False)
        maxima, sums = take_in(maxima, sums, x)
    for i in range(1, n_blocks - 1):
        cols = i * (DEPTH * WIDTH) + offsets
        x = load_mine(x_ptr, start, first, n_cols, n_vectors, cols, VECTOR, True)
        maxima, sums = take_in(maxima, sums, x)
    row_max = tl.max(maxima, axis=0)
    factor = 1.0 / tl.sum(sums * tl.exp2((maxima - row_max) * LOG2_E), axis=0)
    for i in range(1, n_blocks - 1):
        cols = (n_blocks - 1 - i) * (DEPTH * WIDTH) + offsets
        x = load_mine(x_ptr, start, first, n_cols, n_vectors, cols, VECTOR, True)
        result = (tl.exp2((x - row_max) * LOG2_E) * factor).to(output_ptr.dtype.element_ty)
        tl.store(output_ptr + start + cols, result, cache_modifier=".cs")
    for i in range(0, n_blocks, step):
        cols = i * (DEPTH * WIDTH) + offsets
        x = load_mine(x_ptr, start, first, n_cols, n_vectors, cols, VECTOR, False)
        result = (tl.exp2((x - row_max) * LOG2_E) * factor).to(output_ptr.dtype.element_ty)
        vector = cols // VECTOR * VECTOR
        whole = (vector >= first) & (vector + VECTOR <= first + n_cols)
        tl.store(output_ptr + start + cols, result, mask=whole, cache_modifier=".cs")
    # What the first and the last vector share with the neighbours.
    ends = tl.arange(0, 2 * VECTOR)
    last = (first + n_cols - 1) // VECTOR * VECTOR
    cols = tl.where(ends < VECTOR, ends, last + ends - VECTOR)
    x = tl.load(x_ptr + start + cols, mask=(cols >= first) & (cols < first + n_cols), other=0.0)
    result = (tl.exp2((x.to(tl.float32) - row_max) * LOG2_E) * factor).to(x.dtype)
    vector = cols // VECTOR * VECTOR
    shared = (vector < first) | (vector + VECTOR > first + n_cols)
    mine = (cols >= first) & (cols < first + n_cols)
    tl.store(output_ptr + start + cols, result, mask=mine & shared)


def softmax_of_odd_rows(
    x: torch.Tensor, depth: int = 2, width: int = 4096, num_warps: int = 16
) -> torch.Tensor:
    """Return the softmax of each row of x, (m, n), contiguous, m * n a multiple of 8."""
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    softmax_odd_kernel[(n_rows,)](
        x, output, n_cols, x.numel() // VECTOR, VECTOR=VECTOR, DEPTH=depth, WIDTH=width,
        num_warps=num_warps,
    )  # fmt: skip
    return output
