"""Small tiles, broadcast and summed over the last axis; db comes with the first column's tiles."""

import torch
import triton
import triton.language as tl


@triton.jit
def gate(o, g):
    return tl.where(o > 0, g, 0.0).to(tl.float32)


@triton.jit
def dx_tile(w_ptr, out_ptr, dout_ptr, dx_ptr, M, N, K, wn, wk, om, on, gm, gn, T: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * T + tl.arange(0, T)
    c = tl.program_id(1).to(tl.int64) * T + tl.arange(0, T)
    acc = tl.zeros((T, T), tl.float32)
    for s in range(0, N, T):
        j = s + tl.arange(0, T).to(tl.int64)
        ok = (i[:, None] < M) & (j[None, :] < N)
        g = gate(tl.load(out_ptr + i[:, None] * om + j[None, :] * on, mask=ok, other=0.0),
                 tl.load(dout_ptr + i[:, None] * gm + j[None, :] * gn, mask=ok, other=0.0))
        w = tl.load(w_ptr + j[None, :] * wn + c[:, None] * wk, mask=(j[None, :] < N) & (c[:, None] < K), other=0.0)
        acc += tl.sum(g[:, None, :] * w.to(tl.float32)[None, :, :], axis=2)
    tl.store(dx_ptr + i[:, None] * K + c[None, :], acc, mask=(i[:, None] < M) & (c[None, :] < K))


@triton.jit
def dw_tile(x_ptr, out_ptr, dout_ptr, dw_ptr, db_ptr, M, N, K, xm, xk, om, on, gm, gn, T: tl.constexpr):
    j = tl.program_id(0).to(tl.int64) * T + tl.arange(0, T)
    c = tl.program_id(1).to(tl.int64) * T + tl.arange(0, T)
    acc = tl.zeros((T, T), tl.float32)
    down = tl.zeros((T,), tl.float32)
    for s in range(0, M, T):
        i = s + tl.arange(0, T).to(tl.int64)
        ok = (i[None, :] < M) & (j[:, None] < N)
        g = gate(tl.load(out_ptr + i[None, :] * om + j[:, None] * on, mask=ok, other=0.0),
                 tl.load(dout_ptr + i[None, :] * gm + j[:, None] * gn, mask=ok, other=0.0))
        x = tl.load(x_ptr + i[None, :] * xm + c[:, None] * xk, mask=(i[None, :] < M) & (c[:, None] < K), other=0.0)
        acc += tl.sum(g[:, None, :] * x.to(tl.float32)[None, :, :], axis=2)
        down += tl.sum(g, axis=1)
    tl.store(dw_ptr + j[:, None] * K + c[None, :], acc, mask=(j[:, None] < N) & (c[None, :] < K))
    tl.store(db_ptr + j, down, mask=(j < N) & (tl.program_id(1) == 0))


def linear_bias_relu_backward(x, w, out, dout):
    M, K = x.shape
    N = w.shape[0]
    dx = torch.zeros((M, K), dtype=x.dtype, device=x.device)
    dw = torch.zeros((N, K), dtype=w.dtype, device=w.device)
    db = torch.zeros((N,), dtype=w.dtype, device=w.device)
    T = 16
    dx_tile[(triton.cdiv(M, T), triton.cdiv(K, T))](w, out, dout, dx, M, N, K, *w.stride(), *out.stride(), *dout.stride(), T=T)
    dw_tile[(triton.cdiv(N, T), triton.cdiv(K + 1, T))](x, out, dout, dw, db, M, N, K, *x.stride(), *out.stride(), *dout.stride(), T=T)
    return dx, dw, db
