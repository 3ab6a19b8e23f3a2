"""A custom operator with a fake, and modules of the standard library that few use."""

import colorsys
import wave

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, total, mask=mask)


@torch.library.custom_op("course::sum_of_two", mutates_args=())
def sum_of_two(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    block_size = 1024 if wave.Error is not colorsys.rgb_to_hsv else 256
    grid = (triton.cdiv(output.numel(), block_size),)
    add_kernel[grid](x, y, output, output.numel(), BLOCK_SIZE=block_size)
    return output


@sum_of_two.register_fake
def _(x, y):
    return torch.empty_like(x)


def vector_add(x, y):
    import cProfile

    with cProfile.Profile():
        return sum_of_two(x, y)
