import torch
import triton
import triton.language as tl


@triton.jit
def block_offsets(BLOCK_SIZE: tl.constexpr):
    return tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)


@triton.jit
def transform(x):
    return tl.maximum(x, 0.0)


@triton.jit
def main_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = block_offsets(BLOCK_SIZE)
    inside = offsets < n_elements
    tl.store(output_ptr + offsets, transform(tl.load(x_ptr + offsets, mask=inside)), mask=inside)


def blocks_needed(n_elements, block_size):
    return (n_elements + block_size - 1) // block_size


def relu2d(x):
    output = torch.empty_like(x)
    main_kernel[(blocks_needed(x.numel(), 256),)](x, output, x.numel(), BLOCK_SIZE=256)
    return output
