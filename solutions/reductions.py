"""Model solutions of the lesson on reductions: a row per program.

Each exercise has two kernels. The first keeps its row in registers, so that the row is read
once. The second is for longer rows: it loops over them in blocks.
"""

import torch
import triton
import triton.language as tl


# %% row_sum
@triton.jit
def row_sum_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    """Store the sum of one row; the row may be longer than a block."""
    # 1. Which row is mine? Set the loop-carried value before the loop.
    # 2. Loop over the row, one block at a time. In each step: columns, mask, load in float32.
    # 3. Add the block's sum. Masked-off lanes must not change it.
    # 4. After the loop store the sum, in the dtype of the output.
    ### BEGIN SOLUTION
    row = tl.program_id(axis=0).to(tl.int64)  # a row can start beyond 2**31 elements
    total = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        x = tl.load(x_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=0.0)
        total += tl.sum(x.to(tl.float32), axis=0)
    tl.store(output_ptr + row, total.to(output_ptr.dtype.element_ty))
    ### END SOLUTION


def row_sum(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of each row.

    x: (m, n), any strides, float32, float16 or bfloat16. The result is a new tensor of shape (m,)
    with the dtype of x. A row without elements has the sum 0.
    """
    n_rows, n_cols = x.shape
    output = torch.empty(n_rows, dtype=x.dtype, device=x.device)
    row_sum_kernel[(n_rows,)](x, output, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=1024)
    return output


# %% softmax
@triton.jit
def softmax_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    """Compute the softmax of one row that fits into one block.

    Strides of x are counted in elements. The output is contiguous, with rows of n_cols.
    """
    # 1. The program's row, the columns of the block, and the mask of those that exist.
    # 2. Load the row in float32. Which `other` changes neither the maximum nor the sum?
    # 3. Subtract the maximum before exp, so that nothing overflows.
    # 4. Divide by the sum, store under the mask.
    ### BEGIN SOLUTION
    # In 64 bits, because row * stride_row can exceed 2**31.
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = cols < n_cols
    x_ptrs = x_ptr + row * stride_row + cols * stride_col
    x = tl.load(x_ptrs, mask=mask, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    result = numerator / tl.sum(numerator, axis=0)
    output_ptrs = output_ptr + row * n_cols + cols
    tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)
    ### END SOLUTION


@triton.jit
def softmax_long_kernel(
    x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr
):
    """Compute the softmax of one row that is longer than a block.

    Strides of x are counted in elements. The output is contiguous, with rows of n_cols.
    """
    # 1. Loop over the row once, and carry two numbers: the maximum so far, and the sum of
    #    exp(x - maximum so far). When the maximum grows, rescale the old sum.
    #    A block may be all -inf: then do not compute -inf - (-inf).
    # 2. Loop over it again: load, normalise, store.
    ### BEGIN SOLUTION
    row = tl.program_id(axis=0).to(tl.int64)
    row_max = float("-inf")
    row_sum = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        x_ptrs = x_ptr + row * stride_row + cols * stride_col
        x = tl.load(x_ptrs, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        new_max = tl.maximum(row_max, tl.max(x, axis=0))
        # -inf - (-inf) would be NaN. While the maximum is -inf, the sum is 0 anyway.
        shift = tl.where(new_max == float("-inf"), 0.0, new_max)
        row_sum = row_sum * tl.exp(row_max - shift) + tl.sum(tl.exp(x - shift), axis=0)
        row_max = new_max
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        x_ptrs = x_ptr + row * stride_row + cols * stride_col
        x = tl.load(x_ptrs, mask=mask, other=float("-inf")).to(tl.float32)
        result = tl.exp(x - row_max) / row_sum
        output_ptrs = output_ptr + row * n_cols + cols
        tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)
    ### END SOLUTION


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row.

    x: (m, n), any strides (float32, float16 or bfloat16). -inf is allowed, but not in a whole
    row. The result is a new contiguous tensor of the same shape and dtype.
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    longest_block = 16384
    if n_cols <= longest_block:
        kernel, block_size = softmax_kernel, max(16, triton.next_power_of_2(n_cols))
    else:
        kernel, block_size = softmax_long_kernel, 4096
    num_warps = 4 if block_size <= 2048 else 8
    kernel[(n_rows,)](
        x,
        output,
        n_cols,
        x.stride(0),
        x.stride(1),
        BLOCK_SIZE=block_size,
        num_warps=num_warps,
    )
    return output


# %% layernorm
@triton.jit
def layernorm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    output_ptr,
    n_cols,
    stride_row,
    stride_col,
    stride_weight,
    stride_bias,
    eps,
    BLOCK_SIZE: tl.constexpr,
):
    """Normalise one row that fits into one block.

    Strides are counted in elements. The output is contiguous, with rows of n_cols.
    """
    # 1. The program's row, the columns of the block, and their mask; load the row in float32.
    # 2. The mean of the n_cols elements that exist.
    # 3. The variance as the mean of (x - mean)^2, never as mean(x^2) - mean^2. Masked-off
    #    lanes must not count: what is their x - mean?
    # 4. (x - mean) / sqrt(variance + eps) * weight + bias, stored under the mask.
    ### BEGIN SOLUTION
    # In 64 bits, because row * stride_row can exceed 2**31.
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = cols < n_cols
    x_ptrs = x_ptr + row * stride_row + cols * stride_col
    x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)
    centred = tl.where(mask, x - tl.sum(x, axis=0) / n_cols, 0.0)
    # The mean of large numbers is rounded: subtract the mean of what is left as well.
    centred = tl.where(mask, centred - tl.sum(centred, axis=0) / n_cols, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n_cols
    weight = tl.load(weight_ptr + cols * stride_weight, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + cols * stride_bias, mask=mask, other=0.0).to(tl.float32)
    result = centred / tl.sqrt_rn(variance + eps) * weight + bias
    output_ptrs = output_ptr + row * n_cols + cols
    tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)
    ### END SOLUTION


@triton.jit
def layernorm_long_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    output_ptr,
    n_cols,
    stride_row,
    stride_col,
    stride_weight,
    stride_bias,
    eps,
    BLOCK_SIZE: tl.constexpr,
):
    """Normalise one row that is longer than a block.

    Strides are counted in elements. The output is contiguous, with rows of n_cols.
    """
    # 1. Loop over the row and add up x - first, where `first` is the first element of the
    #    row: these differences stay small even if the mean is large.
    # 2. Loop over it again for the variance.
    # 3. Loop over it a third time: normalise and store.
    ### BEGIN SOLUTION
    row = tl.program_id(axis=0).to(tl.int64)
    row_ptr = x_ptr + row * stride_row
    first = tl.load(row_ptr).to(tl.float32)
    sums = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        x = tl.load(row_ptr + cols * stride_col, mask=mask, other=0.0).to(tl.float32)
        sums += tl.where(mask, x - first, 0.0)
    shift = tl.sum(sums, axis=0) / n_cols  # mean - first
    squares = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        x = tl.load(row_ptr + cols * stride_col, mask=mask, other=0.0).to(tl.float32)
        centred = tl.where(mask, (x - first) - shift, 0.0)
        squares += centred * centred
    deviation = tl.sqrt_rn(tl.sum(squares, axis=0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        x = tl.load(row_ptr + cols * stride_col, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + cols * stride_weight, mask=mask, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + cols * stride_bias, mask=mask, other=0.0).to(tl.float32)
        result = ((x - first) - shift) / deviation * weight + bias
        output_ptrs = output_ptr + row * n_cols + cols
        tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)
    ### END SOLUTION


def layernorm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    """Return each row with mean 0 and variance 1, times weight, plus bias.

    x: (m, n), weight and bias: (n,), any strides, of the same dtype (float32, float16 or
    bfloat16). The variance is the biased one (divided by n), and eps is added to it. The
    mean of a row may be far larger than its spread. The result is a new contiguous tensor
    with the shape and dtype of x.
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    longest_block = 16384
    if n_cols <= longest_block:
        kernel, block_size = layernorm_kernel, max(16, triton.next_power_of_2(n_cols))
    else:
        kernel, block_size = layernorm_long_kernel, 4096
    num_warps = 4 if block_size <= 2048 else 8
    kernel[(n_rows,)](
        x,
        weight,
        bias,
        output,
        n_cols,
        *x.stride(),
        *weight.stride(),
        *bias.stride(),
        eps,
        BLOCK_SIZE=block_size,
        num_warps=num_warps,
    )
    return output
