import torch
import triton
import triton.language as tl


@triton.jit
def has_bin(x, n_bins):
    """A number below 0 is very large without its sign: one comparison does for two."""
    return x.to(tl.int64).to(tl.uint64, bitcast=True) < n_bins.to(tl.uint64)


@triton.jit
def histogram_kernel(x_ptr, counts_ptr, n, n_bins: tl.int64, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets * stride, mask=mask, other=0)
    tl.atomic_add(counts_ptr + x.to(tl.int64), 1, mask=mask & has_bin(x, n_bins))


def histogram(x, n_bins):
    counts = torch.zeros((n_bins,), dtype=torch.int32, device=x.device)
    if x.numel():
        histogram_kernel[(triton.cdiv(x.numel(), 1024),)](
            x, counts, x.numel(), n_bins, x.stride(0), BLOCK=1024
        )
    return counts
