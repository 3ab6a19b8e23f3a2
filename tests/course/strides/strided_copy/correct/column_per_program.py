import torch
import triton
import triton.language as tl

BLOCK_ROWS = 128


@triton.jit
def copy_column(x_ptr, y_ptr, rows, columns, sx0, sx1, BLOCK: tl.constexpr):
    column = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = row.to(tl.int64)
    y = tl.load(x_ptr + row * sx0 + column * sx1, mask=row < rows)
    tl.store(y_ptr + row * columns + column, y, mask=row < rows)


def strided_copy(x):
    rows, columns = x.shape
    y = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    copy_column[(columns, triton.cdiv(rows, BLOCK_ROWS))](x, y, rows, columns, *x.stride(), BLOCK=BLOCK_ROWS)
    return y
