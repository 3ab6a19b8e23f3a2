"""The mean is the average of the blocks' means; the last block is ragged."""

import torch
import triton
import triton.language as tl


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
    # 1. My row, the columns of the block, and their mask; load the row in float32.
    # 2. The mean of the n_cols elements that exist.
    # 3. The variance as the mean of (x - mean)^2, never as mean(x^2) - mean^2. The lanes
    #    that do not exist must not count: what is their x - mean?
    # 4. (x - mean) / sqrt(variance + eps) * weight + bias, stored under the mask.
    # In 64 bits, because a stride can lead to an address more than 2**31 elements away.
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = cols < n_cols
    x_ptrs = x_ptr + row * stride_row + cols * stride_col
    x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)
    centred = tl.where(mask, x - tl.sum(x, axis=0) / n_cols, 0.0)
    # The mean of large numbers is rounded; what that left over is taken out as well.
    centred = tl.where(mask, centred - tl.sum(centred, axis=0) / n_cols, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n_cols
    weight = tl.load(weight_ptr + cols * stride_weight, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + cols * stride_bias, mask=mask, other=0.0).to(tl.float32)
    result = centred / tl.sqrt_rn(variance + eps) * weight + bias
    output_ptrs = output_ptr + row * n_cols + cols
    tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)


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
    # 1. Walk through the row once and add up x - first, where `first` is the first element
    #    of the row: differences stay small and exact even if the mean is large.
    # 2. Walk through it again for the variance.
    # 3. Walk through it a third time: normalise and store.
    row = tl.program_id(axis=0).to(tl.int64)
    row_ptr = x_ptr + row * stride_row
    first = tl.load(row_ptr).to(tl.float32)
    means = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        x = tl.load(row_ptr + cols * stride_col, mask=mask, other=0.0).to(tl.float32)
        count = tl.minimum(BLOCK_SIZE, n_cols - start)
        means += tl.sum(tl.where(mask, x - first, 0.0), axis=0) / count
    shift = means / tl.cdiv(n_cols, BLOCK_SIZE)
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
    longest_block = 256
    if n_cols <= longest_block:
        kernel, block_size = layernorm_kernel, max(16, triton.next_power_of_2(n_cols))
    else:
        kernel, block_size = layernorm_long_kernel, 256
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
