"""Uses the stride of the rows, but steps by 1 within a row."""

import torch
import triton
import triton.language as tl

@triton.jit
def copy_row(x_ptr, y_ptr, n_cols, stride_row, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_row + cols, mask=cols < n_cols)
        tl.store(y_ptr + row * n_cols + cols, x, mask=cols < n_cols)


def strided_copy(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    copy_row[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=128)
    return y
