"""A program steps on by one block instead of by the number of programs, so blocks are counted
several times.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(x_ptr, out_ptr, n, n_bins, stride, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    while first < n:
        i = (first + tl.arange(0, BLOCK)).to(tl.int64)
        x = tl.load(x_ptr + i * stride, mask=i < n, other=0).to(tl.int64)
        good = (i < n) & (x >= 0) & (x < n_bins)
        tl.atomic_add(out_ptr + tl.where(good, x, 0), good.to(tl.int32), mask=good)
        first += BLOCK


def histogram(x, n_bins):
    out = torch.zeros((n_bins,), dtype=torch.int32, device=x.device)
    n = x.numel()
    if n > 0:
        count_kernel[(min(triton.cdiv(n, 128), 6),)](x, out, n, n_bins, x.stride(0), BLOCK=128)
    return out
