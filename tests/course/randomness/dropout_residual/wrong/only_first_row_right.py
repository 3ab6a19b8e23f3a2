"""Elements are numbered with the row length rounded up to the power of two, as if rows were
padded.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mixed_kernel(x_ptr, r_ptr, out_ptr, meta_ptr, n, last, padded, p, scale, seed, NDIM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    rest = i.to(tl.int64)
    px = tl.zeros((BLOCK,), dtype=tl.int64)
    pr = tl.zeros((BLOCK,), dtype=tl.int64)
    for back in range(0, NDIM):
        axis = NDIM - 1 - back
        size = tl.load(meta_ptr + axis)
        at = rest % size
        px += at * tl.load(meta_ptr + NDIM + axis)
        pr += at * tl.load(meta_ptr + 2 * NDIM + axis)
        rest = rest // size
    number = (i // last) * padded + i % last
    keep = tl.rand(seed, number) >= p
    x = tl.load(x_ptr + px, mask=ok & keep, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + pr, mask=ok, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, (r + x * scale).to(out_ptr.dtype.element_ty), mask=ok)


def dropout_residual(x, residual, p, seed):
    out = torch.empty(list(x.shape), dtype=x.dtype, device=x.device)
    n = x.numel()
    if n == 0:
        return out
    meta = torch.tensor(list(x.shape) + list(x.stride()) + list(residual.stride()),
                        dtype=torch.int64, device=x.device)
    mixed_kernel[(triton.cdiv(n, 256),)](x, residual, out, meta, n, x.shape[-1], triton.next_power_of_2(x.shape[-1]), float(p), 1 / (1 - p), seed,
                                         NDIM=len(x.shape), BLOCK=256)
    return out
