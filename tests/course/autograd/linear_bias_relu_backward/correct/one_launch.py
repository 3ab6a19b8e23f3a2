"""One launch for all three: a program finds by its number whether it has a tile of dx or of dw."""

import torch
import triton
import triton.language as tl


@triton.jit
def load(ptr, rows, cols, n_rows, n_cols, strides):
    return tl.load(ptr + rows[:, None] * strides[0] + cols[None, :] * strides[1],
                   mask=(rows < n_rows)[:, None] & (cols < n_cols)[None, :], other=0.0).to(tl.float32)


@triton.jit
def make_dx(tile, w_ptr, out_ptr, dout_ptr, dx_ptr, m, n, k, tiles_k, ws, os, ds, B: tl.constexpr):
    r = (tile // tiles_k).to(tl.int64) * B + tl.arange(0, B)
    d = (tile % tiles_k).to(tl.int64) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for start in range(0, n, B):
        c = (start + tl.arange(0, B)).to(tl.int64)
        g = tl.where(load(out_ptr, r, c, m, n, os) > 0.0, load(dout_ptr, r, c, m, n, ds), 0.0)
        w = load(w_ptr, c, d, n, k, ws)
        # Along the last axis: of a sum along another one Triton makes a product in TF32.
        acc += tl.sum(g[:, None, :] * tl.trans(w)[None, :, :], axis=2)
    tl.store(dx_ptr + r[:, None] * k + d[None, :], acc.to(dx_ptr.dtype.element_ty), mask=(r < m)[:, None] & (d < k)[None, :])


@triton.jit
def make_dw(tile, x_ptr, out_ptr, dout_ptr, dw_ptr, db_ptr, m, n, k, tiles_k, xs, os, ds, B: tl.constexpr):
    c = (tile // tiles_k).to(tl.int64) * B + tl.arange(0, B)
    d = (tile % tiles_k).to(tl.int64) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    bias = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, m, B):
        r = (start + tl.arange(0, B)).to(tl.int64)
        g = tl.where(load(out_ptr, r, c, m, n, os) > 0.0, load(dout_ptr, r, c, m, n, ds), 0.0)
        x = load(x_ptr, r, d, m, k, xs)
        acc += tl.sum(tl.trans(g)[:, None, :] * tl.trans(x)[None, :, :], axis=2)
        bias += tl.sum(g, axis=0)
    tl.store(dw_ptr + c[:, None] * k + d[None, :], acc.to(dw_ptr.dtype.element_ty), mask=(c < n)[:, None] & (d < k)[None, :])
    if tile % tiles_k == 0:
        tl.store(db_ptr + c, bias.to(db_ptr.dtype.element_ty), mask=c < n)


@triton.jit
def backward_kernel(x_ptr, w_ptr, out_ptr, dout_ptr, dx_ptr, dw_ptr, db_ptr, m, n, k, dx_tiles, tiles_k,
                    xs, ws, os, ds, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid < dx_tiles:
        make_dx(pid, w_ptr, out_ptr, dout_ptr, dx_ptr, m, n, k, tiles_k, ws, os, ds, B)
    else:
        make_dw(pid - dx_tiles, x_ptr, out_ptr, dout_ptr, dw_ptr, db_ptr, m, n, k, tiles_k, xs, os, ds, B)


def linear_bias_relu_backward(x, w, out, dout):
    m, k = x.shape
    n = w.shape[0]
    dx = torch.empty((m, k), dtype=x.dtype, device=x.device)
    dw = torch.empty((n, k), dtype=w.dtype, device=w.device)
    db = torch.empty((n,), dtype=w.dtype, device=w.device)
    tiles_k = max(1, triton.cdiv(k, 16))
    dx_tiles = triton.cdiv(m, 16) * tiles_k
    programs = dx_tiles + triton.cdiv(n, 16) * tiles_k
    if programs > 0:
        backward_kernel[(programs,)](x, w, out, dout, dx, dw, db, m, n, k, dx_tiles, tiles_k,
                                     x.stride(), w.stride(), out.stride(), dout.stride(), B=16)
    return dx, dw, db
