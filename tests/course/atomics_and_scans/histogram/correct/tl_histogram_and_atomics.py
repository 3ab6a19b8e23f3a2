"""Tl.histogram into registers over a striding loop and one atomic addition per bin for up to 512
bins, direct relaxed atomics beyond.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def few_bins(x_ptr, counts_ptr, n, n_bins, stride, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """Count in registers first, then add each program's counts once. BINS: a power of two >= n_bins."""
    own = tl.zeros((BINS,), dtype=tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i.to(tl.int64) * stride, mask=i < n, other=0).to(tl.int64)
        keep = (i < n) & (x >= 0) & (x < n_bins)
        own += tl.histogram(tl.where(keep, x, 0).to(tl.int32), BINS, mask=keep)
    b = tl.arange(0, BINS)
    tl.atomic_add(counts_ptr + b, own, mask=(b < n_bins) & (own > 0))


@triton.jit
def many_bins(x_ptr, counts_ptr, n, n_bins, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * stride, mask=i < n, other=0).to(tl.int64)
    keep = (i < n) & (x >= 0) & (x < n_bins)
    tl.atomic_add(counts_ptr + tl.where(keep, x, 0), keep.to(tl.int32), mask=keep, sem="relaxed")


def histogram(x: torch.Tensor, n_bins: int) -> torch.Tensor:
    counts = torch.zeros((n_bins,), dtype=torch.int32, device=x.device)
    n = x.numel()
    if n == 0:
        return counts
    blocks = triton.cdiv(n, 1024)
    if n_bins <= 512:
        few_bins[(min(blocks, 32),)](
            x, counts, n, n_bins, x.stride(0), BLOCK=1024, BINS=max(32, triton.next_power_of_2(n_bins))
        )
    else:
        many_bins[(blocks,)](x, counts, n, n_bins, x.stride(0), BLOCK=1024)
    return counts
