"""A module-level loop fills a dict of closures over constexpr widths, the launcher picks one."""

import torch
import triton
import triton.language as tl


def _build(lanes):
    LANES = tl.constexpr(lanes)

    @triton.jit
    def twice(src, dst, n):
        i = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
        x = tl.load(src + i, mask=i < n)
        tl.store(dst + i, x + x, mask=i < n)

    return twice


KERNELS = {}
for _lanes in (64, 256, 1024):
    KERNELS[_lanes] = _build(_lanes)
del _lanes


def double(x):
    n = x.numel()
    out = torch.empty_like(x)
    lanes = next((w for w in sorted(KERNELS) if n <= 8 * w), max(KERNELS))
    KERNELS[lanes][(triton.cdiv(n, lanes),)](x, out, n)
    return out
