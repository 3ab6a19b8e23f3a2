"""The second walk subtracts the maximum of the block at hand."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_row + cols * stride_col, mask=mask, other=float("-inf"))
    x = x.to(tl.float32)
    weights = tl.exp(x - tl.max(x, axis=0))
    y = weights / tl.sum(weights, axis=0)
    tl.store(output_ptr + row * n_cols + cols, y.to(output_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax_long_kernel(
    x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride_row
    running_max = float("-inf")
    running_sum = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
        x = x.to(tl.float32)
        new_max = tl.maximum(running_max, tl.max(x, axis=0))
        safe_max = tl.where(new_max == float("-inf"), 0.0, new_max)
        running_sum = running_sum * tl.exp(running_max - safe_max)
        running_sum += tl.sum(tl.exp(x - safe_max), axis=0)
        running_max = new_max
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols * stride_col, mask=mask, other=float("-inf")).to(tl.float32)
        y = tl.exp(x - tl.max(x, axis=0)) / running_sum
        tl.store(output_ptr + row * n_cols + cols, y.to(output_ptr.dtype.element_ty), mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    longest_block = 16384
    if n_cols <= longest_block:
        kernel, block_size = softmax_kernel, max(16, triton.next_power_of_2(n_cols))
    else:
        kernel, block_size = softmax_long_kernel, 4096
    num_warps = 4 if block_size <= 2048 else 8
    kernel[(n_rows,)](
        x, output, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=block_size, num_warps=num_warps
    )
    return output
