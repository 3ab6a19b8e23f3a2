"""A flat grid of tiles, checks with f-strings, keyword arguments."""

import torch
import triton
import triton.language as tl

BLOCK_M = 64
BLOCK_N = 16


@triton.jit
def kernel(x_ptr, bias_ptr, y_ptr, n_rows, n_cols, stride_row, stride_col, stride_bias,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    across = tl.cdiv(n_cols, BLOCK_N)
    pid = tl.program_id(0)
    rows = (pid // across) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (pid % across) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_ok = rows < n_rows
    col_ok = cols < n_cols
    x = tl.load(x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=row_ok[:, None] & col_ok[None, :], other=0.0)
    b = tl.load(bias_ptr + cols * stride_bias, mask=col_ok, other=0.0)
    out = tl.maximum(x.to(tl.float32) + b.to(tl.float32)[None, :], 0.0)
    tl.store(y_ptr + rows[:, None] * n_cols + cols[None, :], out.to(y_ptr.dtype.element_ty), mask=row_ok[:, None] & col_ok[None, :])


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """relu(x + bias)"""
    n_rows, n_cols = x.shape
    if bias.shape != (n_cols,):
        raise ValueError(f"bias has shape {tuple(bias.shape)}, expected ({n_cols},)")
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    programs = triton.cdiv(n_rows, BLOCK_M) * triton.cdiv(n_cols, BLOCK_N)
    kernel[(programs,)](
        x, bias, y, n_rows, n_cols, x.stride(0), x.stride(1), bias.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N
    )
    return y
