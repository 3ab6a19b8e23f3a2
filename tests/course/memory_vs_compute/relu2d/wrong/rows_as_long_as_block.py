"""Row r is looked for at r times the block."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_rows(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    offsets = row * BLOCK + cols
    mask = cols < n_cols
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)


def relu2d(x):
    rows, cols = x.shape
    y = torch.empty_like(x)
    if rows == 0 or cols == 0:
        return y
    relu_rows[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
    return y
