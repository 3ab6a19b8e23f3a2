"""The sum is stored, loaded again, clipped, and stored once more."""

import torch
import triton
import triton.language as tl


@triton.jit
def bias_relu_kernel(
    x_ptr, bias_ptr, output_ptr, n_rows, n_cols, stride_row, stride_col, stride_bias,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=mask)
    bias = tl.load(bias_ptr + cols * stride_bias, mask=cols < n_cols)
    out_ptrs = output_ptr + rows[:, None] * n_cols + cols[None, :]
    total = x.to(tl.float32) + bias.to(tl.float32)[None, :]
    tl.store(out_ptrs, total.to(output_ptr.dtype.element_ty), mask=mask)
    total = tl.load(out_ptrs, mask=mask).to(tl.float32)
    tl.store(out_ptrs, tl.maximum(total, 0.0).to(output_ptr.dtype.element_ty), mask=mask)


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 16), triton.cdiv(n_cols, 64))
    bias_relu_kernel[grid](
        x, bias, output, n_rows, n_cols, *x.stride(), *bias.stride(), BLOCK_M=16, BLOCK_N=64
    )
    return output
