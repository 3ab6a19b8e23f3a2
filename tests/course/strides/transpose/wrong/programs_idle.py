"""The tile number is divided by the number of tiles down (tiles_n) in place of across (tiles_m),
so that tiles are skipped where the two numbers differ.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_1d_grid(x, y, n, m, tiles_n, tiles_m, s0, s1, T: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    tile_n = pid // tiles_n
    tile_m = pid % tiles_n
    i = tile_n * T + tl.arange(0, T)
    j = tile_m * T + tl.arange(0, T)
    src = x + i[None, :] * s0 + j[:, None] * s1
    dst = y + j[:, None] * n + i[None, :]
    ok = (i[None, :] < n) & (j[:, None] < m)
    tl.store(dst, tl.load(src, mask=ok), mask=ok)


def transpose(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    t = 16
    tiles_n, tiles_m = triton.cdiv(n, t), triton.cdiv(m, t)
    transpose_1d_grid[(tiles_n * tiles_m,)](
        x, y, n, m, tiles_n, tiles_m, x.stride(0), x.stride(1), T=t
    )
    return y
