"""A `print_if` from the search for a bug is still there."""

import torch
import triton
import triton.language as tl

from triton_util import print_if


@triton.jit
def copy_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    print_if(f"pid {pid} {offsets}", "=0")
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)


def copy(x):
    output = torch.empty_like(x)
    n_elements = x.numel()
    copy_kernel[(triton.cdiv(n_elements, 1024),)](x, output, n_elements, BLOCK_SIZE=1024)
    return output
