"""torch counts."""

import torch
import triton
import triton.language as tl


@triton.jit
def histogram_kernel(x_ptr, counts_ptr, n_elements, n_bins, stride_x, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets * stride_x, mask=mask, other=0).to(tl.int64)
    inside = mask & (x >= 0) & (x < n_bins)
    tl.atomic_add(counts_ptr + x, 1, mask=inside)


def histogram(x: torch.Tensor, n_bins: int) -> torch.Tensor:
    return torch.bincount(x[(x >= 0) & (x < n_bins)], minlength=n_bins).to(torch.int32)
