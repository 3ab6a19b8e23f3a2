import torch
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, y_ptr, n_rows, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    total = n_rows * n_cols
    start = tl.program_id(0) * BLOCK
    while start < total:
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < total
        rows = (offsets // n_cols).to(tl.int64)
        cols = (offsets - rows * n_cols).to(tl.int64)
        x = tl.load(x_ptr + (rows * stride_row + cols * stride_col), mask=mask, other=0)
        tl.store(y_ptr + offsets, x, mask=mask)
        start += tl.num_programs(0) * BLOCK


def strided_copy(x):
    """Copy with six programs, whatever the size."""
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if n_rows * n_cols > 0:
        copy_kernel[(6,)](x, y, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK=512)
    return y
