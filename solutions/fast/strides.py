"""Fast form of the transposition: tiles instead of lines.

Why the plain form cannot reach the speed of a copy: it writes neighbours, but what it reads
lies one row of the input apart, so that of each 32 bytes fetched from memory only one element
is used, and most of them are fetched again later. A tile of 64 x 64 elements is read along the
rows of the input *and* written along the rows of the output; between the two, Triton turns it
around in shared memory. (strided_copy reaches the speed of a copy in its plain form.)
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_tile_kernel(
    x_ptr,
    output_ptr,
    n_rows,
    n_cols,
    stride_row,
    stride_col,
    stride_output,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Copy one BLOCK_M x BLOCK_N tile of a view of shape (n_rows, n_cols) with any strides.

    The rows of the output are stride_output apart, its columns next to one another.
    """
    n_tiles = tl.cdiv(n_cols, BLOCK_N)
    pid = tl.program_id(axis=0)
    # In 64 bits, because a stride can lead to an address more than 2**31 elements away.
    rows = (pid // n_tiles).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (pid % n_tiles).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=mask)
    tl.store(output_ptr + rows[:, None] * stride_output + cols[None, :], x, mask=mask)


# %% transpose
def transpose(x: torch.Tensor) -> torch.Tensor:
    """Return the transposed matrix; the contract is that of the plain form."""
    return launch(x, *((128, 128, 8) if x.element_size() == 1 else (64, 64, 16)))


def launch(x: torch.Tensor, block_m: int, block_n: int, num_warps: int) -> torch.Tensor:
    """Transpose x in tiles of this size."""
    n_cols, n_rows = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, block_m) * triton.cdiv(n_cols, block_n),)
    copy_tile_kernel[grid](
        x,
        output,
        n_rows,
        n_cols,
        x.stride(1),
        x.stride(0),
        n_cols,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        num_warps=num_warps,
    )
    return output
