"""A fixed number of programs; each takes every eighth block."""

import torch
import triton
import triton.language as tl


PROGRAMS = 8


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, NUM_PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0)
    for block in range(first, tl.cdiv(n, BLOCK), NUM_PROGRAMS):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
        y = tl.load(y_ptr + offsets, mask=offsets < n, other=0)
        tl.store(out_ptr + offsets, x + y, mask=offsets < n)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    add_kernel[(PROGRAMS,)](x, y, out, x.numel(), NUM_PROGRAMS=PROGRAMS, BLOCK=256)
    return out
