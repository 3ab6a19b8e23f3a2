"""Output row and column by the number of columns of x."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, output_ptr, n_rows, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    output_rows = offsets // n_cols
    output_cols = offsets % n_cols
    mask = offsets < n_rows * n_cols
    x = tl.load(x_ptr + output_cols * stride_row + output_rows * stride_col, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)


def transpose(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    output = torch.empty((n_cols, n_rows), dtype=x.dtype, device=x.device)
    block_size = 1024
    grid = (triton.cdiv(n_rows * n_cols, block_size),)
    transpose_kernel[grid](
        x, output, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=block_size
    )
    return output
