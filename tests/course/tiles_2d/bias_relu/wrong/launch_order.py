"""The launch passes the strides before the sizes."""

import torch
import triton
import triton.language as tl


@triton.jit
def bias_relu_kernel(
    x_ptr,
    bias_ptr,
    output_ptr,
    n_rows,
    n_cols,
    stride_row,
    stride_col,
    stride_bias,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Compute one BLOCK_M x BLOCK_N tile of relu(x + bias).

    x has shape (n_rows, n_cols), bias (n_cols,); strides are counted in elements.
    The output is contiguous and has the shape of x.
    """
    # 1. The row numbers and the column numbers of my tile, and its mask.
    # 2. Load the tile of x, and *once* the BLOCK_N biases: broadcasting reuses them in
    #    every row.
    # 3. Add, take the larger of that and 0, in float32.
    # 4. Store the tile in the dtype of the output, under the mask.
    rows = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(axis=1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x_ptrs = x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col
    x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + cols * stride_bias, mask=cols < n_cols, other=0.0).to(tl.float32)
    result = tl.maximum(x + bias[None, :], 0.0)
    output_ptrs = output_ptr + rows[:, None] * n_cols + cols[None, :]
    tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return relu(x + bias).

    x: (m, n), bias: (n,), any strides, of the same dtype (float32, float16 or bfloat16).
    The result is a new contiguous tensor of shape (m, n) with the dtype of x.
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    block_m, block_n = 16, 64
    # 5. The grid: how many tiles down, and how many to the right. Launch, and return the output.
    grid = (triton.cdiv(n_rows, block_m), triton.cdiv(n_cols, block_n))
    bias_relu_kernel[grid](
        x,
        bias,
        output,
        x.stride(0),
        x.stride(1),
        bias.stride(0),
        n_rows,
        n_cols,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
    )
    return output
