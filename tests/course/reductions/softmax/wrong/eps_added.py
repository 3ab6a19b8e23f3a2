"""The sum has an eps."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    """Compute the softmax of one row that fits into one block.

    Strides of x are counted in elements. The output is contiguous, with rows of n_cols.
    """
    # 1. My row, the columns of the block, and the mask of those that exist.
    # 2. Load the row in float32. What must stand in the lanes that do not exist, so that
    #    they change neither the maximum nor the sum?
    # 3. Subtract the maximum before exp, so that nothing overflows.
    # 4. Divide by the sum, store under the mask.
    # In 64 bits, because a stride can lead to an address more than 2**31 elements away.
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = cols < n_cols
    x_ptrs = x_ptr + row * stride_row + cols * stride_col
    x = tl.load(x_ptrs, mask=mask, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    result = numerator / (tl.sum(numerator, axis=0) + 1e-3)
    output_ptrs = output_ptr + row * n_cols + cols
    tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax_long_kernel(
    x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr
):
    """Compute the softmax of one row that is longer than a block.

    Strides of x are counted in elements. The output is contiguous, with rows of n_cols.
    """
    # 1. Walk through the row once, and keep two numbers: the maximum so far, and the sum of
    #    exp(x - maximum so far). When the maximum grows, the old sum must be rescaled.
    #    Mind a block that holds nothing but -inf.
    # 2. Walk through it again: load, normalise, store.
    row = tl.program_id(axis=0).to(tl.int64)
    row_max = float("-inf")
    row_sum = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        x_ptrs = x_ptr + row * stride_row + cols * stride_col
        x = tl.load(x_ptrs, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        new_max = tl.maximum(row_max, tl.max(x, axis=0))
        # -inf minus -inf would be NaN, and as long as all is -inf the sum is 0 anyway.
        shift = tl.where(new_max == float("-inf"), 0.0, new_max)
        row_sum = row_sum * tl.exp(row_max - shift) + tl.sum(tl.exp(x - shift), axis=0)
        row_max = new_max
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        x_ptrs = x_ptr + row * stride_row + cols * stride_col
        x = tl.load(x_ptrs, mask=mask, other=float("-inf")).to(tl.float32)
        result = tl.exp(x - row_max) / (row_sum + 1e-3)
        output_ptrs = output_ptr + row * n_cols + cols
        tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)


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
