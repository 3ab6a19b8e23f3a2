"""A row per program, but only the first block of columns of it."""

import torch
import triton
import triton.language as tl

@triton.jit
def copy_row(x_ptr, y_ptr, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK).to(tl.int64)
    x = tl.load(x_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols)
    tl.store(y_ptr + row * n_cols + cols, x, mask=cols < n_cols)


def strided_copy(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    copy_row[(x.shape[0],)](x, y, x.shape[1], *x.stride(), BLOCK=64)
    return y
