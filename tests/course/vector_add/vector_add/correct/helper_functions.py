import torch
import triton
import triton.language as tl


@triton.jit
def block_offsets(BLOCK_SIZE: tl.constexpr):
    return tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)


@triton.jit
def load_block(pointer, offsets, n_elements):
    return tl.load(pointer + offsets, mask=offsets < n_elements, other=0.0)


@triton.jit
def plus(left, right):
    return left + right


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = block_offsets(BLOCK_SIZE)
    total = plus(load_block(x_ptr, offsets, n_elements), load_block(y_ptr, offsets, n_elements))
    tl.store(output_ptr + offsets, total, mask=offsets < n_elements)


def number_of_programs(n_elements, block_size):
    return (n_elements + block_size - 1) // block_size


def vector_add(x, y):
    output = torch.empty_like(x)
    grid = (number_of_programs(len(x), 256),)
    add_kernel[grid](x, y, output, len(x), BLOCK_SIZE=256)
    return output
