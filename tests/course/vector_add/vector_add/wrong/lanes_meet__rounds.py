"""The persistent loop computes its offsets from pid in place of block, so that all blocks behind
the first eight are never written (n > 1024).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_persistent(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    n_programs = tl.num_programs(0)
    n_blocks = tl.cdiv(n, BLOCK)
    for block in range(pid, n_blocks, n_programs):
        offs = pid * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
        y = tl.load(y_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, x + y, mask=mask)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    block = 128
    grid = (min(8, triton.cdiv(n, block)),)
    add_persistent[grid](x, y, out, n, BLOCK=block)
    return out
