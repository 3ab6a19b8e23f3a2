"""The two conditions of the mask are joined by |."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_copy(src, dst, m, n, s_m, s_n, TM: tl.constexpr, TN: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * TM + tl.arange(0, TM)[:, None]
    c = tl.program_id(1).to(tl.int64) * TN + tl.arange(0, TN)[None, :]
    live = (r < m) | (c < n)
    v = tl.load(src + r * s_m + c * s_n, mask=live)
    tl.store(dst + r * n + c, v, mask=live)


def strided_copy(x: torch.Tensor) -> torch.Tensor:
    m, n = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    tile_copy[(triton.cdiv(m, 16), triton.cdiv(n, 16))](x, out, m, n, x.stride(0), x.stride(1), TM=16, TN=16)
    return out
