"""The launch passes the sizes of the output, not of x."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(
    x_ptr,
    output_ptr,
    n_rows,
    n_cols,
    stride_row,
    stride_col,
    BLOCK_SIZE: tl.constexpr,
):
    """Write `BLOCK_SIZE` elements of the transposed matrix.

    x has shape (n_rows, n_cols); its strides are counted in elements.
    The output is contiguous and has shape (n_cols, n_rows): row i of it is column i of x.
    """
    # 1. The offsets of my block in the output.
    # 2. The row and the column in the *output*, whose rows are n_rows long, and the mask.
    # 3. Where that element lies in x, whose row is the output's column.
    # 4. Load from there, store at the offsets of the output.
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    output_rows = offsets // n_rows
    output_cols = offsets % n_rows
    mask = output_rows < n_cols
    x = tl.load(x_ptr + output_cols * stride_row + output_rows * stride_col, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)


def transpose(x: torch.Tensor) -> torch.Tensor:
    """Return the transposed matrix as a new contiguous tensor.

    x: 2D of shape (n, m), any dtype and any strides. The result has shape (m, n).
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_cols, n_rows), dtype=x.dtype, device=x.device)
    block_size = 1024
    grid = (triton.cdiv(n_rows * n_cols, block_size),)
    transpose_kernel[grid](
        x, output, n_cols, n_rows, x.stride(0), x.stride(1), BLOCK_SIZE=block_size
    )
    return output
