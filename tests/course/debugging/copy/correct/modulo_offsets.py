"""No masks: lanes that would stick out wrap around and repeat the first elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def wrapped(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = (tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)) % n_elements
    x = tl.load(x_ptr + offsets)
    tl.store(output_ptr + offsets, x)


def copy(x):
    output = torch.empty_like(x)
    wrapped[(triton.cdiv(x.numel(), 128),)](x, output, x.numel(), BLOCK_SIZE=128)
    return output
