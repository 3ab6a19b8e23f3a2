"""Eight programs; each takes every eighth block."""

import torch
import triton
import triton.language as tl


PROGRAMS = 8


@triton.jit
def kernel(x_ptr, out_ptr, n, NUM_PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), NUM_PROGRAMS):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
        tl.store(out_ptr + offsets, value, mask=offsets < n)


def copy(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    kernel[(PROGRAMS,)](x, out, x.numel(), NUM_PROGRAMS=PROGRAMS, BLOCK=256)
    return out
