"""The mask is kept in memory, as float32, and read by a second kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def mask_kernel(mask_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) >= p
    tl.store(mask_ptr + i, keep.to(tl.float32), mask=i < n)


@triton.jit
def apply_kernel(x_ptr, r_ptr, mask_ptr, y_ptr, n, p, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    keep = tl.load(mask_ptr + i, mask=i < n, other=0.0)
    y = tl.where(keep > 0, r + x / (1 - p), r)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < n)


def dropout_residual(x, residual, p, seed):
    x, residual = x.contiguous(), residual.contiguous()
    y = torch.empty_like(x)
    kept = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    if x.numel():
        grid = (triton.cdiv(x.numel(), 1024),)
        mask_kernel[grid](kept, x.numel(), p, seed, BLOCK=1024)
        apply_kernel[grid](x, residual, kept, y, x.numel(), p, BLOCK=1024)
    return y
