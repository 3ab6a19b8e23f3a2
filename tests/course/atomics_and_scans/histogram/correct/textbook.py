import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(x_ptr, counts_ptr, n, stride, n_bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets * stride, mask=mask, other=-1).to(tl.int64)
    tl.atomic_add(counts_ptr + x, 1, mask=(x >= 0) & (x < n_bins) & mask)


def histogram(x, n_bins):
    counts = torch.zeros(n_bins, dtype=torch.int32, device=x.device)
    if x.numel() > 0:
        count_kernel[(triton.cdiv(x.numel(), 256),)](
            x, counts, x.numel(), x.stride(0), n_bins, BLOCK=256
        )
    return counts
