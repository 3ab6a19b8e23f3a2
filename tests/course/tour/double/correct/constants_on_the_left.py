"""A factory makes the kernel; constants of the module and of the factory stand on the left."""

from functools import lru_cache

import torch
import triton
import triton.language as tl

ONE = tl.constexpr(1.0)


@lru_cache
def kernel_for(factor, block_size):
    FACTOR = tl.constexpr(factor)
    BLOCK_SIZE = tl.constexpr(block_size)

    @triton.jit
    def scale_kernel(x_ptr, output_ptr, n_elements):
        offsets = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + offsets, mask=offsets < n_elements)
        tl.store(output_ptr + offsets, FACTOR * x * ONE, mask=offsets < n_elements)

    return scale_kernel


def double(x):
    output = torch.empty_like(x)
    block_size = 1024 if x.numel() > 1000 else 128
    grid = (triton.cdiv(x.numel(), block_size),)
    kernel_for(2, block_size)[grid](x, output, x.numel())
    return output
