"""The store is moved on by one column."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    x_ptrs = x_ptr + row * stride_row + (cols - 1) * stride_col
    x = tl.load(x_ptrs, mask=(cols > 0) & (cols < n_cols), other=0.0).to(tl.float32)
    sums = tl.cumsum(x, axis=0)
    output_ptrs = output_ptr + row * n_cols + cols
    tl.store(output_ptrs, sums.to(output_ptr.dtype.element_ty), mask=cols < n_cols)


def cumsum(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if output.numel():
        block = triton.next_power_of_2(n_cols)
        cumsum_kernel[(n_rows,)](x, output, n_cols, x.stride(0), x.stride(1), BLOCK=block)
    return output
