"""No masks: rows and columns that would stick out wrap around and are copied twice."""

import torch
import triton
import triton.language as tl

@triton.jit
def wrapped_copy(x_ptr, y_ptr, n_rows, n_cols, stride_r, stride_c, TILE: tl.constexpr):
    rows = (tl.program_id(0) * TILE + tl.arange(0, TILE)) % n_rows
    cols = (tl.program_id(1) * TILE + tl.arange(0, TILE)) % n_cols
    rows = rows.to(tl.int64)[:, None]
    cols = cols.to(tl.int64)[None, :]
    tl.store(y_ptr + rows * n_cols + cols, tl.load(x_ptr + rows * stride_r + cols * stride_c))


def strided_copy(x):
    r, c = x.shape
    y = torch.empty((r, c), dtype=x.dtype, device=x.device)
    wrapped_copy[(triton.cdiv(r, 16), triton.cdiv(c, 16))](x, y, r, c, x.stride(0), x.stride(1), TILE=16)
    return y
