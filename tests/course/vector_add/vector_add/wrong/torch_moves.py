"""torch fills whole blocks with copies, so that no mask is needed."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_full_blocks(x_ptr, y_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n = x.numel()
    block = 128
    programs = triton.cdiv(n, block)
    xp = torch.zeros(programs * block, dtype=x.dtype, device=x.device)
    yp = torch.zeros(programs * block, dtype=x.dtype, device=x.device)
    xp[:n] = x
    yp[:n] = y
    out = torch.empty_like(xp)
    add_full_blocks[(programs,)](xp, yp, out, BLOCK_SIZE=block)
    return out[:n]
