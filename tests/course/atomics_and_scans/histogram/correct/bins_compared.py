import torch
import triton
import triton.language as tl


@triton.jit
def compare_kernel(
    x_ptr, counts_ptr, n, n_bins, stride, BLOCK: tl.constexpr, BLOCK_BINS: tl.constexpr
):
    """Compare a block of numbers with a block of bins, all with all; no address from a number."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets * stride, mask=offsets < n, other=-1).to(tl.int64)
    for start in range(0, n_bins, BLOCK_BINS):
        bins = start + tl.arange(0, BLOCK_BINS)
        equal = (x[:, None] == bins[None, :]) & (offsets[:, None] < n)
        own = tl.sum(equal.to(tl.int32), axis=0)
        tl.atomic_add(counts_ptr + bins, own, mask=bins < n_bins)


def histogram(x, n_bins):
    counts = torch.zeros(n_bins, dtype=torch.int32, device=x.device)
    n = x.numel()
    if n:
        compare_kernel[(triton.cdiv(n, 256),)](
            x, counts, n, n_bins, x.stride(0), BLOCK=256, BLOCK_BINS=64
        )
    return counts
