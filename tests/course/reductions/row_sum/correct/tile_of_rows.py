"""A program sums 16 rows in tiles, along axis 1."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(
    x_ptr, output_ptr, n_rows, n_cols, stride_row, stride_col, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(axis=0) * ROWS + tl.arange(0, ROWS)
    sums = tl.zeros((ROWS,), dtype=tl.float32)
    for start in tl.range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
        pointers = x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col
        sums += tl.sum(tl.load(pointers, mask=mask, other=0.0).to(tl.float32), axis=1)
    tl.store(output_ptr + rows, sums, mask=rows < n_rows)


def row_sum(x):
    n_rows, n_cols = x.shape
    output = torch.empty(n_rows, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 16),)
    row_sum_kernel[grid](x, output, n_rows, n_cols, x.stride(0), x.stride(1), ROWS=16, COLS=64)
    return output
