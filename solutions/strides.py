"""Model solutions of the lesson on strides: kernels that read any 2D view by its strides.

Both kernels number the elements of the *output*, which is contiguous, and compute where each one
is in the input: `base + row * stride_row + column * stride_column`.
"""

import torch
import triton
import triton.language as tl


# %% strided_copy
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
    The output has the same shape and is contiguous.
    """
    # 1. The offsets of my block in the output.
    # 2. The row and the column of each offset, and a mask that is true inside the output.
    # 3. The address of that element in x: row and column times the strides of x.
    # 4. Load from there, store at the offsets of the output.
    ### BEGIN SOLUTION
    # In 64 bits: an element of x can be more than 2**31 elements after the first.
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    rows = offsets // n_cols
    cols = offsets % n_cols
    mask = rows < n_rows
    x = tl.load(x_ptr + rows * stride_row + cols * stride_col, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    strided_copy_kernel[grid](
        x, output, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=block_size
    )
    ### END SOLUTION
    return output


# %% transpose
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
    # 3. The address of that element in x, whose row is the output's column.
    # 4. Load from there, store at the offsets of the output.
    ### BEGIN SOLUTION
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    output_rows = offsets // n_rows
    output_cols = offsets % n_rows
    mask = output_rows < n_cols
    x = tl.load(x_ptr + output_cols * stride_row + output_rows * stride_col, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)
    ### END SOLUTION


def transpose(x: torch.Tensor) -> torch.Tensor:
    """Return the transposed matrix as a new contiguous tensor.

    x: 2D of shape (n, m), any dtype and any strides. The result has shape (m, n).
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_cols, n_rows), dtype=x.dtype, device=x.device)
    block_size = 1024
    grid = (triton.cdiv(n_rows * n_cols, block_size),)
    transpose_kernel[grid](
        x, output, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=block_size
    )
    return output
