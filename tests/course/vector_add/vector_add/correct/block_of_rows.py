"""A 2D block of pointers over a 1D vector."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    start = tl.program_id(0) * ROWS * COLUMNS
    offsets = start + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def vector_add(x, y):
    output = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 8 * 32),)](x, y, output, x.numel(), ROWS=8, COLUMNS=32)
    return output
