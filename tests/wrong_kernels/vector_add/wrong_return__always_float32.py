"""The output is float32 whatever the dtype of the inputs."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def vector_add(x, y):
    output = torch.empty(x.numel(), device=x.device)
    add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, output, x.numel(), BLOCK_SIZE=1024)
    return output
