import torch
import triton
import triton.language as tl


@triton.jit
def own_bins_kernel(x_ptr, counts_ptr, n, n_bins, stride, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """One program owns BINS bins, walks through all of x and stores once: no atomics at all."""
    first = tl.program_id(0) * BINS
    bins = tl.arange(0, BINS)
    total = tl.zeros([BINS], tl.int32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets * stride, mask=offsets < n, other=0).to(tl.int64) - first
        mine = (offsets < n) & (x >= 0) & (x < BINS)
        total += tl.histogram(tl.where(mine, x, 0).to(tl.int32), BINS, mask=mine)
    tl.store(counts_ptr + first + bins, total, mask=first + bins < n_bins)


def histogram(x, n_bins):
    counts = torch.empty(n_bins, dtype=torch.int32, device=x.device)
    own_bins_kernel[(triton.cdiv(n_bins, 1024),)](
        x, counts, x.numel(), n_bins, x.stride(0), BLOCK=1024, BINS=1024
    )
    return counts
