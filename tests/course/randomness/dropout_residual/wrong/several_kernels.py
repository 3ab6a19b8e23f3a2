"""A first kernel stores the mask, and a second one reads it."""

import torch
import triton
import triton.language as tl


@triton.jit
def draw_kernel(mask_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(mask_ptr + i, (tl.rand(seed, i) >= p).to(tl.int8), mask=i < n)


@triton.jit
def add_kernel(x_ptr, residual_ptr, mask_ptr, out_ptr, n, p, n1, n2, n3, x0, x1, x2, x3, r0, r1, r2, r3, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    i3, i2, i1, i0 = i % n3, i // n3 % n2, i // n3 // n2 % n1, i // n3 // n2 // n1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=i < n, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + i0 * r0 + i1 * r1 + i2 * r2 + i3 * r3, mask=i < n, other=0.0).to(tl.float32)
    kept = tl.load(mask_ptr + i, mask=i < n, other=0) != 0
    y = residual + tl.where(kept, x / (1 - p), 0.0)
    tl.store(out_ptr + i, y.to(out_ptr.dtype.element_ty), mask=i < n)


def dropout_residual(x, residual, p, seed):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n, more = x.numel(), 4 - x.dim()
    if n == 0:
        return out
    mask = torch.empty((n,), dtype=torch.int8, device=x.device)
    shape = (1,) * more + tuple(x.shape)
    strides = [(0,) * more + tuple(t.stride()) for t in (x, residual)]
    grid = (triton.cdiv(n, 1024),)
    draw_kernel[grid](mask, n, p, seed, BLOCK=1024)
    add_kernel[grid](x, residual, mask, out, n, p, *shape[1:], *strides[0], *strides[1], BLOCK=1024)
    return out
