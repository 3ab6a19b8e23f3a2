"""The mask is drawn by torch."""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, r_ptr, k_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    keep = tl.load(k_ptr + i, mask=i < n, other=0.0) >= p
    y = tl.where(keep, r + x / (1 - p), r)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < n)


def dropout_residual(x, residual, p, seed):
    x, residual = x.contiguous(), residual.contiguous()
    y = torch.empty_like(x)
    torch.manual_seed(seed)
    numbers = torch.rand(x.shape, device=x.device)
    if x.numel():
        grid = (triton.cdiv(x.numel(), 256),)
        dropout_kernel[grid](x, residual, numbers, y, x.numel(), p, seed, BLOCK=256)
    return y
