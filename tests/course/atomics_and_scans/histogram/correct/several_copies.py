import torch
import triton
import triton.language as tl


@triton.jit
def spread_kernel(x_ptr, copies_ptr, n, n_bins, stride, COPIES: tl.constexpr, BLOCK: tl.constexpr):
    """Programs add to different copies of the counts, so that fewer of them meet."""
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets * stride, mask=mask, other=0).to(tl.int64)
    inside = mask & (x >= 0) & (x < n_bins)
    tl.atomic_add(copies_ptr + (pid % COPIES) * n_bins + x, 1, mask=inside)


@triton.jit
def collect_kernel(copies_ptr, counts_ptr, n_bins, COPIES: tl.constexpr, BLOCK: tl.constexpr):
    bins = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    copies = tl.arange(0, COPIES)
    found = tl.load(
        copies_ptr + copies[:, None] * n_bins + bins[None, :], mask=bins[None, :] < n_bins, other=0
    )
    tl.store(counts_ptr + bins, tl.sum(found, axis=0), mask=bins < n_bins)


def histogram(x, n_bins):
    copies = torch.zeros((4, n_bins), dtype=torch.int32, device=x.device)
    counts = torch.empty((n_bins,), dtype=torch.int32, device=x.device)
    if x.numel():
        spread_kernel[(triton.cdiv(x.numel(), 256),)](
            x, copies, x.numel(), n_bins, x.stride(0), COPIES=4, BLOCK=256
        )
    collect_kernel[(triton.cdiv(n_bins, 256),)](copies, counts, n_bins, COPIES=4, BLOCK=256)
    return counts
