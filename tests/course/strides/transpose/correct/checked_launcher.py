"""Type hints, constants, assertions, a generous docstring, keyword arguments."""

import torch
import triton
import triton.language as tl
TILE_ROWS: int = 16
TILE_COLS: int = 32


@triton.jit
def _transpose_kernel(
    x_ptr,
    output_ptr,
    n_rows,
    n_cols,
    stride_row,
    stride_col,
    TILE_ROWS: tl.constexpr,
    TILE_COLS: tl.constexpr,
):
    """Move one tile of x, (TILE_ROWS, TILE_COLS), to its place in the output."""
    rows = tl.program_id(0).to(tl.int64) * TILE_ROWS + tl.arange(0, TILE_ROWS)
    cols = tl.program_id(1).to(tl.int64) * TILE_COLS + tl.arange(0, TILE_COLS)
    row_mask = rows < n_rows
    col_mask = cols < n_cols
    mask = row_mask[:, None] & col_mask[None, :]
    x = tl.load(x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=mask)
    tl.store(output_ptr + cols[None, :] * n_rows + rows[:, None], x, mask=mask)


def transpose(x: torch.Tensor) -> torch.Tensor:
    """Return the transposed matrix, contiguous."""
    if x.ndim != 2:
        raise ValueError(f"transpose needs a matrix, not a tensor of shape {tuple(x.shape)}")
    n_rows, n_cols = x.shape
    output = torch.empty((n_cols, n_rows), dtype=x.dtype, device=x.device)
    assert output.is_contiguous()
    _transpose_kernel[(triton.cdiv(n_rows, TILE_ROWS), triton.cdiv(n_cols, TILE_COLS))](
        x_ptr=x,
        output_ptr=output,
        n_rows=n_rows,
        n_cols=n_cols,
        stride_row=x.stride(0),
        stride_col=x.stride(1),
        TILE_ROWS=TILE_ROWS,
        TILE_COLS=TILE_COLS,
    )
    return output
