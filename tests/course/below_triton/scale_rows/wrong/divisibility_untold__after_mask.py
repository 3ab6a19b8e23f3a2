"""The mask is made before the length is visibly a multiple."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_rows_kernel(
    x_ptr, s_ptr, output_ptr, n_rows, n_cols,
    VECTOR: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    n_cols = n_cols // VECTOR * VECTOR
    offsets = rows[:, None].to(tl.int64) * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask)
    s = tl.load(s_ptr + rows, mask=rows < n_rows)
    y = x.to(tl.float32) * s.to(tl.float32)[:, None]
    tl.store(output_ptr + offsets, y.to(output_ptr.dtype.element_ty), mask=mask)


def scale_rows(x, s):
    n_rows, n_cols = x.shape
    output = torch.empty_like(x)
    if output.numel() == 0:
        return output
    vector = 16 // x.element_size()
    if n_cols % vector:
        vector = 1
    block_n = min(2048, triton.next_power_of_2(n_cols))
    block_m = 2048 // block_n
    grid = (triton.cdiv(n_rows, block_m), triton.cdiv(n_cols, block_n))
    scale_rows_kernel[grid](x, s, output, n_rows, n_cols, VECTOR=vector, BLOCK_M=block_m, BLOCK_N=block_n)
    return output
