"""Torch.library.custom_op with a fake implementation, called through torch.ops."""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid.to(tl.int64) * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@torch.library.custom_op("homework_of_lesson_one::plus", mutates_args=())
def _plus(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n_elements = out.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)
    _kernel[grid](x, y, out, n_elements, BLOCK_SIZE=1024)
    return out


@_plus.register_fake
def _(x, y):
    return torch.empty_like(x)


def vector_add(x, y):
    return torch.ops.homework_of_lesson_one.plus(x, y)
