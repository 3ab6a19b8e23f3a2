"""Softmax of rows that start anywhere: sixteen bytes at a time all the same.

A row of 50257 half-precision numbers is no multiple of 16 bytes, so nearly every row starts in the
middle of such a piece, and Triton loads each number alone. But the matrix as a whole lies without
gaps. So a program rounds the start of its row down to a whole vector of 8 numbers, loads whole
vectors, and leaves out what belongs to the neighbours. It stores the vectors that are all its own;
the few numbers at both ends are computed and stored once more, one by one.

Rows of up to 51193 numbers are read once: they fit into the registers of a program, in three
blocks, since one block, whose size is a power of two, would be too large. The programs stay, and
copy their next two rows to shared memory while they compute. Longer rows are walked through twice.
"""

import math

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(math.log2(math.e))  # exp(x) is exp2(x * LOG2_E)
SMALLEST = tl.constexpr(-1e38)  # not -inf: -inf minus -inf would be NaN
VECTOR = 8
WIDTH = 2048  # numbers in which each thread of eight warps has one vector
MOST_AT_ONCE = 25 * WIDTH  # of a row: 200 numbers for each thread


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
def store_ends(x_ptr, output_ptr, first, n_cols, row_max, factor, VECTOR: tl.constexpr):
    """Store what the first and the last vector of the row share with the neighbours."""
    ends = tl.arange(0, 2 * VECTOR)
    last = (first + n_cols - 1) // VECTOR * VECTOR
    cols = tl.where(ends < VECTOR, ends, last + ends - VECTOR)
    mine = (cols >= first) & (cols < first + n_cols)
    vector = cols // VECTOR * VECTOR
    shared = (vector < first) | (vector + VECTOR > first + n_cols)
    x = tl.load(x_ptr + cols, mask=mine, other=0.0)
    result = (tl.exp2((x.to(tl.float32) - row_max) * LOG2_E) * factor).to(x.dtype)
    tl.store(output_ptr + cols, result, mask=mine & shared)


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
    store_ends(x_ptr + start, output_ptr + start, first, n_cols, row_max, factor, VECTOR)


@triton.jit
def softmax_odd_stream_kernel(
    x_ptr, output_ptr, n_rows, n_cols, n_vectors,
    VECTOR: tl.constexpr, WIDTH: tl.constexpr, LARGE: tl.constexpr, MIDDLE: tl.constexpr,
    TAIL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Compute the softmax of every P-th row; P programs.

    A row is three blocks, LARGE, MIDDLE and TAIL times WIDTH numbers. The first two end within the
    row. While a row is computed, the next STAGES - 1 rows of the program are on their way.
    """
    lane = tl.arange(0, WIDTH)[None, :]
    in_large = tl.arange(0, LARGE)[:, None] * WIDTH + lane
    in_middle = LARGE * WIDTH + tl.arange(0, MIDDLE)[:, None] * WIDTH + lane
    in_tail = (LARGE + MIDDLE) * WIDTH + tl.arange(0, TAIL)[:, None] * WIDTH + lane
    dtype = output_ptr.dtype.element_ty
    for number in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=STAGES):
        begin = number * n_cols.to(tl.int64)
        start = begin // VECTOR * VECTOR
        first = (begin - start).to(tl.int32)
        end = first + n_cols
        # All loads first: what is used between two of them would wait for the second.
        large = tl.load(x_ptr + start + in_large)
        middle = tl.load(x_ptr + start + in_middle).to(tl.float32)
        exists = start // VECTOR + in_tail // VECTOR < n_vectors
        tail = tl.load(x_ptr + start + in_tail, mask=exists, other=float("-inf"))
        large = tl.where(in_large >= first, large.to(tl.float32), float("-inf"))
        tail = tl.where(in_tail < end, tail.to(tl.float32), float("-inf"))
        maxima = tl.maximum(tl.max(large, axis=0), tl.max(middle, axis=0))
        row_max = tl.max(tl.maximum(maxima, tl.max(tail, axis=0)), axis=0)
        large = tl.exp2((large - row_max) * LOG2_E)
        middle = tl.exp2((middle - row_max) * LOG2_E)
        tail = tl.exp2((tail - row_max) * LOG2_E)
        sums = tl.sum(large, axis=0) + tl.sum(middle, axis=0) + tl.sum(tail, axis=0)
        factor = 1.0 / tl.sum(sums, axis=0)
        output = output_ptr + start
        mine = in_large // VECTOR * VECTOR >= first
        tl.store(output + in_large, (large * factor).to(dtype), mask=mine, cache_modifier=".cs")
        tl.store(output + in_middle, (middle * factor).to(dtype), cache_modifier=".cs")
        mine = in_tail // VECTOR * VECTOR + VECTOR <= end
        tl.store(output + in_tail, (tail * factor).to(dtype), mask=mine, cache_modifier=".cs")
        store_ends(x_ptr + start, output, first, n_cols, row_max, factor, VECTOR)


def blocks_of(n_cols: int, width: int = WIDTH) -> tuple[int, int, int] | None:
    """Return how many times `width` numbers the three blocks of a row are; None if it is too long.

    The row may begin up to VECTOR - 1 numbers into the first of them. None, too, where the first
    two would not end within the row.
    """
    whole = n_cols // width
    large = 1 << max(whole.bit_length() - 1, 0)
    middle = 1 << max((whole - large).bit_length() - 1, 0)
    left = n_cols + VECTOR - 1 - (large + middle) * width
    tail = triton.next_power_of_2(max(1, triton.cdiv(left, width)))
    fits = large + middle <= whole and (large + middle + tail) * width <= MOST_AT_ONCE
    return (large, middle, tail) if fits else None


def softmax_of_an_odd_stream(
    x: torch.Tensor, programs: int, width: int = WIDTH, num_warps: int = 8, stages: int = 3
) -> torch.Tensor:
    """Return the same as `softmax_of_odd_rows`, for rows for which there are `blocks_of`."""
    n_rows, n_cols = x.shape
    blocks = blocks_of(n_cols, width)
    if blocks is None:
        raise ValueError(f"a row of {n_cols} numbers is not cut into three blocks")
    large, middle, tail = blocks
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    softmax_odd_stream_kernel[(min(programs, n_rows),)](
        x, output, n_rows, n_cols, x.numel() // VECTOR, VECTOR=VECTOR, WIDTH=width, LARGE=large,
        MIDDLE=middle, TAIL=tail, STAGES=stages, num_warps=num_warps,
    )  # fmt: skip
    return output


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
