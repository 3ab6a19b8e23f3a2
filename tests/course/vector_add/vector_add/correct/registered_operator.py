"""The launcher is registered with torch as an operator."""

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, total, mask=mask)


@triton_op("course::add", mutates_args={})
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    grid = (triton.cdiv(output.numel(), 512),)
    wrap_triton(add_kernel)[grid](x, y, output, output.numel(), BLOCK_SIZE=512)
    return output


def vector_add(x, y):
    return add(x, y)
