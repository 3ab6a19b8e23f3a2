import torch
import triton
import triton.language as tl

from triton_util.indexing import get_1d_offset, get_2d_mask, get_2d_offset


@triton.jit
def relu_kernel(x_ptr, out_ptr, n_rows, n_columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = get_1d_offset(ROWS, tl.program_id(axis=0))
    columns = get_1d_offset(COLUMNS, tl.program_id(axis=1))
    offsets = get_2d_offset(rows, columns, n_columns)
    mask = get_2d_mask(rows, columns, n_rows, n_columns)
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(x < 0, 0.0, x), mask=mask)


def relu2d(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.shape[0], 16), triton.cdiv(x.shape[1], 64))
    relu_kernel[grid](x, out, x.shape[0], x.shape[1], ROWS=16, COLUMNS=64)
    return out
