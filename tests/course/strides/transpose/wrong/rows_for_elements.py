"""The mask of a flat offset compares with the number of rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def t_kernel(x_ptr, output_ptr, n_rows, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    row = (offsets // n_rows).to(tl.int64)
    col = (offsets % n_rows).to(tl.int64)
    mask = offsets < n_rows
    x = tl.load(x_ptr + col * stride_row + row * stride_col, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)


def transpose(x):
    n_rows, n_cols = x.shape
    output = torch.empty((n_cols, n_rows), dtype=x.dtype, device=x.device)
    t_kernel[(triton.cdiv(x.numel(), 1024),)](x, output, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=1024)
    return output
