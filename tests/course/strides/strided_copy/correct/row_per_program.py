import torch
import triton
import triton.language as tl

@triton.jit
def copy_row(src, dst, width, row_step, col_step, BLOCK: tl.constexpr):
    """One row per program, in blocks of BLOCK columns."""
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, width, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < width
        values = tl.load(src + row * row_step + columns.to(tl.int64) * col_step, mask=inside)
        tl.store(dst + row * width + columns, values, mask=inside)


def strided_copy(x):
    result = x.new_empty(x.shape)
    copy_row[(x.shape[0],)](x, result, x.shape[1], x.stride(0), x.stride(1), BLOCK=64, num_warps=2)
    return result
