"""Model solution of the lesson on what lies below Triton: rows scaled by wide loads."""

import torch
import triton
import triton.language as tl


# %% scale_rows
@triton.jit
def scale_rows_kernel(
    x_ptr, s_ptr, output_ptr, n_rows, n_cols,
    VECTOR: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Multiply each row of one BLOCK_M x BLOCK_N tile by its own scale.

    x and the output are contiguous, of shape (n_rows, n_cols), s has n_rows numbers. n_cols is
    a multiple of VECTOR.
    """
    # 1. Show the compiler that n_cols is a multiple of VECTOR.
    # 2. Compute the row numbers and column numbers of the tile, and its mask.
    # 3. Load the tile of x, and the scale of each of its rows once.
    # 4. Multiply, and store in the dtype of the output.
    ### BEGIN SOLUTION
    n_cols = n_cols // VECTOR * VECTOR
    rows = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(axis=1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offsets = rows[:, None] * n_cols + cols[None, :]
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    s = tl.load(s_ptr + rows, mask=rows < n_rows).to(tl.float32)
    result = x * s[:, None]
    tl.store(output_ptr + offsets, result.to(output_ptr.dtype.element_ty), mask=mask)
    ### END SOLUTION


def scale_rows(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """Return x * s[:, None].

    x: (m, n), contiguous, s: (m,), contiguous; both float32, float16 or bfloat16, of the same
    dtype. The result is a new contiguous tensor with the shape and the dtype of x.
    """
    n_rows, n_cols = x.shape
    output = torch.empty_like(x)
    # 5. VECTOR is the number of elements in 16 bytes if that divides a row, else 1.
    # 6. Choose a tile of 2,048 elements, with as many columns as a row has, at most 2,048.
    #    The grid counts tiles along rows and columns. Launch, and return the output.
    ### BEGIN SOLUTION
    vector = 16 // x.element_size()
    if n_cols % vector:
        vector = 1
    block_n = min(triton.next_power_of_2(max(n_cols, 1)), 2048)
    block_m = 2048 // block_n
    grid = (triton.cdiv(n_rows, block_m), triton.cdiv(n_cols, block_n))
    scale_rows_kernel[grid](
        x, s, output, n_rows, n_cols, VECTOR=vector, BLOCK_M=block_m, BLOCK_N=block_n
    )
    return output
    ### END SOLUTION
