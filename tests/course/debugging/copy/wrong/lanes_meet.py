"""Each program copies 4 pieces but starts at pid * BLOCK in place of pid * BLOCK * PIECES, so
that with two programs or more the tail (from n > 1280) is never copied.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(src, dst, n, BLOCK: tl.constexpr, PIECES: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    lanes = tl.arange(0, BLOCK)
    for piece in tl.static_range(PIECES):
        at = first + piece * BLOCK + lanes
        inside = at < n
        value = tl.load(src + at, mask=inside)
        tl.store(dst + at, value, mask=inside)


def copy(x: torch.Tensor) -> torch.Tensor:
    dst = torch.empty_like(x)
    n = x.numel()
    block, pieces = 256, 4
    grid = (triton.cdiv(n, block * pieces),)
    copy_kernel[grid](x, dst, n, BLOCK=block, PIECES=pieces)
    return dst
