import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


def double(x):
    output = torch.empty_like(x)
    n_elements = x.numel()
    grid = (triton.cdiv(n_elements, 1024),)
    double_kernel[grid](x, output, n_elements, BLOCK_SIZE=1024)
    return output
