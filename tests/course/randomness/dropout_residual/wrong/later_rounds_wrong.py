"""The random numbers are drawn once per program, before its loop, and used again for its later
blocks.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def where_in(i, shape, strides, NDIM: tl.constexpr):
    rest = i.to(tl.int64)
    place = rest * 0
    for d in tl.static_range(NDIM):
        place += (rest % shape[d]) * strides[d]
        rest = rest // shape[d]
    return place


@triton.jit
def dropout_kernel(x_ptr, r_ptr, out_ptr, n, p, scale, seed, shape, x_strides, r_strides,
                   NDIM: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    u = tl.rand(seed, first + tl.arange(0, BLOCK))
    while first < n:
        i = first + tl.arange(0, BLOCK)
        ok = i < n
        x = tl.load(x_ptr + where_in(i, shape, x_strides, NDIM), mask=ok, other=0.0).to(tl.float32)
        r = tl.load(r_ptr + where_in(i, shape, r_strides, NDIM), mask=ok, other=0.0).to(tl.float32)
        keep = u >= p
        y = tl.where(keep, r + x * scale, r)
        tl.store(out_ptr + i, y.to(out_ptr.dtype.element_ty), mask=ok)
        first += BLOCK * tl.num_programs(0)


def dropout_residual(x, residual, p, seed):
    out = torch.empty(tuple(x.shape), dtype=x.dtype, device=x.device)
    n = x.numel()
    if n > 0:
        p = float(p)
        dropout_kernel[(min(triton.cdiv(n, 128), 5),)](
            x, residual, out, n, p, 1.0 / (1.0 - p), seed, tuple(x.shape)[::-1],
            tuple(x.stride())[::-1], tuple(residual.stride())[::-1], NDIM=x.dim(), BLOCK=128)
    return out
