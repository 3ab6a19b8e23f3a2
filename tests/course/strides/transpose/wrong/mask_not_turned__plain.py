"""The store of the transposed block has the mask of its load."""

import torch
import triton
import triton.language as tl


@triton.jit
def turn_tile(src, dst, n, m, s_n, s_m, T: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * T + tl.arange(0, T)
    j = tl.program_id(1).to(tl.int64) * T + tl.arange(0, T)
    mask = (i[:, None] < n) & (j[None, :] < m)
    tile = tl.load(src + i[:, None] * s_n + j[None, :] * s_m, mask=mask)
    tl.store(dst + j[:, None] * n + i[None, :], tl.trans(tile), mask=mask)


def transpose(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    turn_tile[(triton.cdiv(n, 32), triton.cdiv(m, 32))](x, out, n, m, x.stride(0), x.stride(1), T=32)
    return out
