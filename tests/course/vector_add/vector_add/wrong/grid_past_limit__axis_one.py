"""Counts its blocks along axis 1 of the grid, where a GPU starts at most 65,535 programs."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=1).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def vector_add(x, y):
    out = torch.empty_like(x)
    n_elements = x.numel()
    block_size = 256
    grid = (1, triton.cdiv(n_elements, block_size))
    add_kernel[grid](x, y, out, n_elements, BLOCK_SIZE=block_size)
    return out
