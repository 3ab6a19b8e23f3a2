"""The minimum is subtracted in place of the maximum."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(
        x_ptr + row * stride_row + cols.to(tl.int64) * stride_col, mask=mask, other=-float("inf")
    ).to(tl.float32)
    x = x - tl.min(tl.where(mask, x, float("inf")), axis=0)
    e = tl.exp(x)
    s = tl.sum(e, axis=0)
    tl.store(output_ptr + row * n_cols + cols, e / s, mask=mask)


@triton.jit
def softmax_long_kernel(
    x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    m = -float("inf")
    s = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(
            x_ptr + row * stride_row + cols.to(tl.int64) * stride_col,
            mask=cols < n_cols,
            other=-float("inf"),
        ).to(tl.float32)
        new_m = tl.maximum(m, tl.max(x, axis=0))
        safe = tl.where(new_m == -float("inf"), 0.0, new_m)
        s = s * tl.exp(m - safe) + tl.sum(tl.exp(x - safe), axis=0)
        m = new_m
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(
            x_ptr + row * stride_row + cols.to(tl.int64) * stride_col,
            mask=cols < n_cols,
            other=-float("inf"),
        ).to(tl.float32)
        tl.store(output_ptr + row * n_cols + cols, tl.exp(x - m) / s, mask=cols < n_cols)


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
