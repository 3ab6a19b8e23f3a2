import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, 2 * x, mask=mask)


def double(x):
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n_elements = x.shape[0]
    grid = (triton.cdiv(n_elements, 1024),)
    double_kernel[grid](x, output, n_elements, BLOCK_SIZE=1024)
    return output
