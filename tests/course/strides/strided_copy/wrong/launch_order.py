"""The launch passes the strides before the sizes."""

import torch
import triton
import triton.language as tl


@triton.jit
def strided_copy_kernel(
    x_ptr,
    output_ptr,
    n_rows,
    n_cols,
    stride_row,
    stride_col,
    BLOCK_SIZE: tl.constexpr,
):
    """Copy `BLOCK_SIZE` elements of a 2D view into a contiguous output.

    The view has shape (n_rows, n_cols); its strides are counted in elements.
    The output has the same shape and lies in memory row after row.
    """
    # 1. The offsets of my block in the output.
    # 2. The row and the column of each of them, and the mask of those that exist.
    # 3. Where that element lies in x: its row and column times the strides of x.
    # 4. Load from there, store at the offsets of the output.
    # In 64 bits, because a stride can lead to an address more than 2**31 elements away.
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    rows = offsets // n_cols
    cols = offsets % n_cols
    mask = rows < n_rows
    x = tl.load(x_ptr + rows * stride_row + cols * stride_col, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)


def strided_copy(x: torch.Tensor) -> torch.Tensor:
    """Return a contiguous copy of a 2D view.

    x: 2D, any dtype and any strides: sliced, transposed, expanded (stride 0), overlapping.
    The result is a new contiguous tensor of the same shape and dtype.
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    block_size = 1024
    grid = (triton.cdiv(n_rows * n_cols, block_size),)
    # 5. Launch: x, output, the shape, the two strides of x, and the block size.
    strided_copy_kernel[grid](
        x, output, x.stride(0), x.stride(1), n_rows, n_cols, BLOCK_SIZE=block_size
    )
    return output
