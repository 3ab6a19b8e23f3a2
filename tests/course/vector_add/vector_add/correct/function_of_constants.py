"""A function of constants works out the block size while the kernel is compiled."""

import torch
import triton
import triton.language as tl


@triton.constexpr_function
def twice(size, limit=2048):
    if size * 2 > limit:
        return size
    return size * 2


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, HALF: tl.constexpr):
    BLOCK_SIZE: tl.constexpr = twice(HALF)
    offsets = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, total, mask=mask)


def vector_add(x, y):
    output = torch.empty_like(x)
    add_kernel[(triton.cdiv(output.numel(), 512),)](x, y, output, output.numel(), HALF=256)
    return output
