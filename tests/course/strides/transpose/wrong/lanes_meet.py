"""The store lacks the start of the chunk, so that all chunks are written over the first 128
elements of an output row (n_rows > 128).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_rows(x_ptr, out_ptr, n_rows, stride_row, stride_col, BLOCK: tl.constexpr):
    """One program writes one row of the output, which is one column of x."""
    col = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    column = x_ptr + col * stride_col
    out_row = out_ptr + col * n_rows
    for start in range(0, n_rows, BLOCK):
        rows = (start + lanes).to(tl.int64)
        mask = rows < n_rows
        values = tl.load(column + rows * stride_row, mask=mask)
        tl.store(out_row + lanes, values, mask=mask)


def transpose(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    out = torch.empty((n_cols, n_rows), dtype=x.dtype, device=x.device)
    transpose_rows[(n_cols,)](x, out, n_rows, x.stride(0), x.stride(1), BLOCK=128)
    return out
