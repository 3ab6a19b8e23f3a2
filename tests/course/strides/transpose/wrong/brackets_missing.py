"""The comparisons around `&` have no brackets."""

import torch
import triton
import triton.language as tl


@triton.jit
def t_kernel(x_ptr, output_ptr, n_rows, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    rows = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    cols = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    mask = rows[:, None] < n_rows & cols[None, :] < n_cols
    x = tl.load(x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=mask)
    tl.store(output_ptr + cols[None, :] * n_rows + rows[:, None], x, mask=mask)


def transpose(x):
    n_rows, n_cols = x.shape
    output = torch.empty((n_cols, n_rows), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 32), triton.cdiv(n_cols, 32))
    t_kernel[grid](x, output, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK=32)
    return output
