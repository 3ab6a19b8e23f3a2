"""expand_dims and a grid of one axis, taken apart in the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def outer_sum_kernel(
    x_ptr, y_ptr, output_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    across = tl.cdiv(n_cols, BLOCK_N)
    rows = tl.program_id(0) // across * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(0) % across * BLOCK_N + tl.arange(0, BLOCK_N)
    column = tl.expand_dims(tl.load(x_ptr + rows, mask=rows < n_rows, other=0), 1)
    row = tl.expand_dims(tl.load(y_ptr + cols, mask=cols < n_cols, other=0), 0)
    places = tl.expand_dims(rows, 1) * n_cols + tl.expand_dims(cols, 0)
    mask = tl.expand_dims(rows < n_rows, 1) & tl.expand_dims(cols < n_cols, 0)
    tl.store(output_ptr + places, column + row, mask=mask)


def outer_sum(x, y):
    n_rows, n_cols = x.numel(), y.numel()
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 32) * triton.cdiv(n_cols, 32),)
    outer_sum_kernel[grid](x, y, output, n_rows, n_cols, BLOCK_M=32, BLOCK_N=32)
    return output
