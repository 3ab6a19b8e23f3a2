"""Fast forms of softmax and layer norm: at the speed of a copy, or as near as they come.

Why the plain forms cannot always reach it:

- *Layer norm reads its weights again for each row.* They come from the cache, but they are
  twice as many bytes as the row itself, and that traffic is what limits the plain form. Here
  the rows pass by the first cache level (".cg"), so that the weights stay there, and a program
  takes several short rows at once and loads the weights once for all of them.
- *The masks cost instructions.* When a row fills its block exactly, there are none. Where it
  leaves a large part of it empty (5120 of 8192), layer norm takes two blocks (two_parts.py).
- *Rows of 1000 half-precision numbers are 2000 bytes long*, no multiple of the 32 bytes that
  Triton looks for, and so it would load each number alone. The launcher passes the length in
  units of 8 elements, and Triton sees that it may load 16 bytes at once.
  Where a length is no multiple of 8 (50257), odd_rows.py has the way out.
- *A row of 32000 fills a multiprocessor alone*, and while it is computed nothing is read. Here the
  programs stay, and copy the next two rows to shared memory meanwhile.
- *Rows of up to 51193* are read once, too: odd_rows.py cuts them into three blocks.
- *Softmax of a row longer than that must be read twice.* The second walk goes backwards, so
  that it begins with what the cache still holds. Each thread keeps a maximum and a sum of its
  own, so that the walk through the row needs no exchange between threads.
"""

import math

import torch
import triton
import triton.language as tl

from solutions import reductions as plain
from solutions.fast.hopper import processors_of
from solutions.fast.odd_rows import (
    MOST_AT_ONCE,
    blocks_of,
    softmax_of_an_odd_stream,
    softmax_of_odd_rows,
)
from solutions.fast.two_parts import layernorm_in_parts, worth_two_parts

LONGEST_BLOCK = 16384
LONGEST_STREAM = 32768  # halves; then two rows are 128 KiB of shared memory
FOR_SUMS = 1024  # bytes of shared memory in which warps exchange maxima and sums
PROCESSORS, ROOM = 132, 232448  # of an H200, and bytes of shared memory: where there is no GPU
LOG2_E = tl.constexpr(math.log2(math.e))  # exp(x) is exp2(x * LOG2_E)


@triton.jit
def softmax_rows_kernel(
    x_ptr,
    output_ptr,
    n_rows,
    n_vectors,
    stride_vectors,
    VECTOR: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    FULL: tl.constexpr,
):
    """Compute the softmax of ROWS rows, each of n_vectors * VECTOR elements, in one block.

    Row i of x begins at i * stride_vectors * VECTOR. FULL says that the ROWS x BLOCK_SIZE
    elements of every program exist.
    """
    n_cols = n_vectors * VECTOR
    rows = tl.program_id(axis=0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x_ptrs = x_ptr + rows[:, None] * stride_vectors * VECTOR + cols[None, :]
    if FULL:
        x = tl.load(x_ptrs).to(tl.float32)
    else:
        x = tl.load(x_ptrs, mask=mask, other=float("-inf")).to(tl.float32)
        x = tl.where(rows[:, None] < n_rows, x, 0.0)  # a whole row of -inf would give NaN
    # Times log2(e): what the GPU has an instruction for is powers of two. Only after the
    # subtraction, because the product of a large x would be rounded too much.
    numerator = tl.exp2((x - tl.max(x, axis=1)[:, None]) * LOG2_E)
    result = numerator * (1.0 / tl.sum(numerator, axis=1))[:, None]
    output_ptrs = output_ptr + rows[:, None] * n_cols + cols[None, :]
    if FULL:
        tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty))
    else:
        tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax_long_kernel(
    x_ptr,
    output_ptr,
    n_vectors,
    stride_vectors,
    VECTOR: tl.constexpr,
    DEPTH: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Compute the softmax of one row, DEPTH x WIDTH elements at a time.

    WIDTH covers all threads, so that the DEPTH elements of a column belong to one thread.
    """
    n_cols = n_vectors * VECTOR
    row = tl.program_id(axis=0).to(tl.int64)
    x_ptr += row * stride_vectors * VECTOR
    output_ptr += row * n_cols
    offsets = tl.arange(0, DEPTH)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    # Not -inf: a thread that has seen nothing but -inf would compute -inf - -inf.
    maxima = tl.full((WIDTH,), -1e38, dtype=tl.float32)
    sums = tl.zeros((WIDTH,), dtype=tl.float32)
    n_blocks = tl.cdiv(n_cols, DEPTH * WIDTH)
    for i in range(n_blocks):
        cols = i * (DEPTH * WIDTH) + offsets
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        new_maxima = tl.maximum(maxima, tl.max(x, axis=0))
        terms = tl.sum(tl.exp2((x - new_maxima[None, :]) * LOG2_E), axis=0)
        sums = sums * tl.exp2((maxima - new_maxima) * LOG2_E) + terms
        maxima = new_maxima
    row_max = tl.max(maxima, axis=0)
    factor = 1.0 / tl.sum(sums * tl.exp2((maxima - row_max) * LOG2_E), axis=0)
    for i in range(n_blocks):
        cols = (n_blocks - 1 - i) * (DEPTH * WIDTH) + offsets
        mask = cols < n_cols
        # The row is not needed again, nor is the output: leave the cache to other rows.
        x = tl.load(x_ptr + cols, mask=mask, other=0.0, eviction_policy="evict_first")
        result = tl.exp2((x.to(tl.float32) - row_max) * LOG2_E) * factor
        result = result.to(output_ptr.dtype.element_ty)
        tl.store(output_ptr + cols, result, mask=mask, cache_modifier=".cs")


def vector_length(x: torch.Tensor) -> int:
    """Return 8 if the rows of x can be read 8 elements at a time, else 1."""
    return 8 if x.shape[1] % 8 == 0 and x.stride(0) % 8 == 0 else 1


@triton.jit
def softmax_stream_kernel(
    x_ptr, output_ptr, n_rows, n_vectors, stride_vectors,
    VECTOR: tl.constexpr, BLOCK_SIZE: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Compute the softmax of every P-th row, each in one block; P programs.

    While a row is computed, the next STAGES - 1 rows of the program are on their way.
    """
    n_cols = n_vectors * VECTOR
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    for number in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=STAGES):
        row = number.to(tl.int64)
        x_ptrs = x_ptr + row * stride_vectors * VECTOR + cols
        x = tl.load(x_ptrs, mask=mask, other=float("-inf")).to(tl.float32)
        numerator = tl.exp2((x - tl.max(x, axis=0)) * LOG2_E)
        result = numerator * (1.0 / tl.sum(numerator, axis=0))
        result = result.to(output_ptr.dtype.element_ty)
        tl.store(output_ptr + row * n_cols + cols, result, mask=mask)


# %% softmax
def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row; the contract is that of the plain form."""
    n_cols = x.shape[1]
    if x.stride(1) != 1 or n_cols == 0:
        return plain.softmax(x)
    if LONGEST_BLOCK < n_cols <= LONGEST_STREAM and x.element_size() == 2 and vector_length(x) > 1:
        return softmax_of_a_stream(x, programs_for(x), stages_of_a_stream(x))
    if n_cols > LONGEST_BLOCK:
        dense = x.is_contiguous() and x.numel() % 8 == 0
        two_rows = 2 * MOST_AT_ONCE * x.element_size()
        fits = x.element_size() == 2 and two_rows + FOR_SUMS <= room_of(x)
        if dense and fits and blocks_of(n_cols):
            return softmax_of_an_odd_stream(x, programs_for(x))
        if vector_length(x) > 1:
            return softmax_of_long_rows(x)
        return softmax_of_odd_rows(x) if dense else softmax_of_long_rows(x, 4, 2048, 8)
    block_size = triton.next_power_of_2(n_cols)
    return softmax_of_rows(x, max(1, 2048 // block_size), 4 if block_size <= 4096 else 8)


def softmax_of_long_rows(
    x: torch.Tensor, depth: int = 4, width: int = 8192, num_warps: int = 32
) -> torch.Tensor:
    """Softmax of rows that are read twice, in blocks of depth x width."""
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    vector = vector_length(x)
    softmax_long_kernel[(n_rows,)](
        x,
        output,
        n_cols // vector,
        x.stride(0) // vector,
        VECTOR=vector,
        DEPTH=depth,
        WIDTH=width,
        num_warps=num_warps,
    )
    return output


def softmax_of_rows(x: torch.Tensor, rows: int, num_warps: int) -> torch.Tensor:
    """Softmax of rows that fit into a block, several in each program."""
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    vector = vector_length(x)
    block_size = triton.next_power_of_2(n_cols)
    softmax_rows_kernel[(triton.cdiv(n_rows, rows),)](
        x,
        output,
        n_rows,
        n_cols // vector,
        x.stride(0) // vector,
        VECTOR=vector,
        ROWS=rows,
        BLOCK_SIZE=block_size,
        FULL=block_size == n_cols and n_rows % rows == 0,
        num_warps=num_warps,
    )
    return output


def stages_of_a_stream(x: torch.Tensor) -> int:
    """Return 3, so that two rows are on their way, or 2 where shared memory holds only one."""
    two_rows = 2 * triton.next_power_of_2(x.shape[1]) * x.element_size()
    return 3 if two_rows + FOR_SUMS <= room_of(x) else 2


def programs_for(x: torch.Tensor) -> int:
    """Return how many programs that stay are launched; an H200's number without a GPU."""
    return processors_of(x) if x.is_cuda else PROCESSORS


def room_of(x: torch.Tensor) -> int:
    """Return how many bytes of shared memory a program may have; an H200's without a GPU."""
    if not x.is_cuda:
        return ROOM
    return torch.cuda.get_device_properties(x.device).shared_memory_per_block_optin


def softmax_of_a_stream(
    x: torch.Tensor, programs: int, stages: int = 3, num_warps: int = 16
) -> torch.Tensor:
    """Softmax of rows that fit into a block, by programs that stay."""
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    vector = vector_length(x)
    softmax_stream_kernel[(min(programs, n_rows),)](
        x, output, n_rows, n_cols // vector, x.stride(0) // vector, VECTOR=vector,
        BLOCK_SIZE=triton.next_power_of_2(n_cols), STAGES=stages, num_warps=num_warps,
    )  # fmt: skip
    return output


@triton.jit
def layernorm_rows_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    output_ptr,
    n_rows,
    n_vectors,
    stride_vectors,
    eps,
    VECTOR: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    FULL: tl.constexpr,
):
    """Normalise ROWS rows, each of n_vectors * VECTOR elements, in one block.

    Row i of x begins at i * stride_vectors * VECTOR. FULL says that the ROWS x BLOCK_SIZE
    elements of every program exist.
    """
    n_cols = n_vectors * VECTOR
    rows = tl.program_id(axis=0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK_SIZE)
    in_row = cols < n_cols
    mask = (rows[:, None] < n_rows) & in_row[None, :]
    x_ptrs = x_ptr + rows[:, None] * stride_vectors * VECTOR + cols[None, :]
    if FULL:
        x = tl.load(x_ptrs, cache_modifier=".cg").to(tl.float32)
    else:
        x = tl.load(x_ptrs, mask=mask, other=0.0, cache_modifier=".cg").to(tl.float32)
    centred = x - (tl.sum(x, axis=1) / n_cols)[:, None]
    if not FULL:
        centred = tl.where(in_row[None, :], centred, 0.0)
    # The mean of large numbers is rounded; what that left over is taken out as well. Half
    # precision cannot hold rows whose mean is so far above their spread that it would matter.
    if x_ptr.dtype.element_ty == tl.float32:
        centred = centred - (tl.sum(centred, axis=1) / n_cols)[:, None]
        if not FULL:
            centred = tl.where(in_row[None, :], centred, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=1) / n_cols + eps)
    # The weights only now: loaded earlier, they would occupy registers all the while.
    weight = load_vector(weight_ptr, cols, in_row, FULL).to(tl.float32)
    bias = load_vector(bias_ptr, cols, in_row, FULL).to(tl.float32)
    result = centred * scale[:, None] * weight + bias
    output_ptrs = output_ptr + rows[:, None] * n_cols + cols[None, :]
    if FULL:
        tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty))
    else:
        tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)


@triton.jit
def load_vector(pointer, cols, in_row, FULL: tl.constexpr):
    """Return the elements `cols` of a vector as a block of one row, to stay in the cache."""
    if FULL:
        vector = tl.load(pointer + cols, eviction_policy="evict_last")
    else:
        vector = tl.load(pointer + cols, mask=in_row, other=0.0, eviction_policy="evict_last")
    return vector[None, :]


# %% layernorm
def layernorm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    """Return each row normalised; the contract is that of the plain form."""
    n_cols = x.shape[1]
    contiguous = x.stride(1) == 1 and weight.stride(0) == 1 and bias.stride(0) == 1
    if not contiguous or not 0 < n_cols <= LONGEST_BLOCK:
        return plain.layernorm(x, weight, bias, eps)
    if worth_two_parts(n_cols):
        return layernorm_in_parts(x, weight, bias, eps, vector_length(x))
    block_size = triton.next_power_of_2(n_cols)
    num_warps = 4 if block_size <= 1024 else 8 if block_size <= 8192 else 16
    return layernorm_of_rows(x, weight, bias, eps, max(1, 4096 // block_size), num_warps)


def layernorm_of_rows(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float, rows: int, num_warps: int
) -> torch.Tensor:
    """Layer norm of rows that fit into a block, several in each program."""
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    vector = vector_length(x)
    block_size = triton.next_power_of_2(n_cols)
    layernorm_rows_kernel[(triton.cdiv(n_rows, rows),)](
        x,
        weight,
        bias,
        output,
        n_rows,
        n_cols // vector,
        x.stride(0) // vector,
        eps,
        VECTOR=vector,
        ROWS=rows,
        BLOCK_SIZE=block_size,
        FULL=block_size == n_cols and n_rows % rows == 0,
        num_warps=num_warps,
    )
    return output
