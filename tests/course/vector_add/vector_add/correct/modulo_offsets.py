"""No masks: lanes that would stick out wrap around and repeat the first elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def wrapped_add(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = (tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)) % n_elements
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


def vector_add(x, y):
    output = torch.empty_like(x)
    n_elements = output.numel()
    wrapped_add[(triton.cdiv(n_elements, 128),)](x, y, output, n_elements, BLOCK_SIZE=128)
    return output
