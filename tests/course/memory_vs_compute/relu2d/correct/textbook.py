import torch
import triton
import triton.language as tl


@triton.jit
def relu2d_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)


def relu2d(x):
    output = torch.empty_like(x)
    n_elements = output.numel()
    relu2d_kernel[(triton.cdiv(n_elements, 512),)](x, output, n_elements, BLOCK_SIZE=512)
    return output
