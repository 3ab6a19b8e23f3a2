"""The load of the bias has no mask."""

import torch
import triton
import triton.language as tl


@triton.jit
def bias_relu_kernel(x_ptr, bias_ptr, output_ptr, n_rows, n_cols, stride_row, stride_col, stride_bias, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=mask)
    bias = tl.load(bias_ptr + cols * stride_bias)
    tl.store(output_ptr + rows[:, None] * n_cols + cols[None, :], tl.maximum(x + bias[None, :], 0.0), mask=mask)


def bias_relu(x, bias):
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 32), triton.cdiv(n_cols, 32))
    bias_relu_kernel[grid](x, bias, output, n_rows, n_cols, x.stride(0), x.stride(1), bias.stride(0), BLOCK=32)
    return output
