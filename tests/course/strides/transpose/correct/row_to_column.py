import torch
import triton
import triton.language as tl

@triton.jit
def row_to_column(x_ptr, y_ptr, n_rows, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    """Program r writes row r of x into column r of the output."""
    r = tl.program_id(0).to(tl.int64)
    for first in range(0, n_cols, BLOCK):
        c = (first + tl.arange(0, BLOCK)).to(tl.int64)
        keep = c < n_cols
        tl.store(y_ptr + c * n_rows + r, tl.load(x_ptr + r * stride_row + c * stride_col, keep), keep)


def transpose(x):
    n_rows, n_cols = x.shape
    y = torch.empty(n_cols, n_rows, dtype=x.dtype, device=x.device)
    row_to_column[(n_rows,)](x, y, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK=32)
    return y
