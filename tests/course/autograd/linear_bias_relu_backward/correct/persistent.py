"""Five programs deal out the tiles of dx, then those of dw; db has a kernel of its own."""

import torch
import triton
import triton.language as tl

P = 5


@triton.jit
def masked(out_ptr, dout_ptr, r, c, M, N, om, on, gm, gn):
    ok = (r < M) & (c < N)
    up = tl.load(out_ptr + r * om + c * on, mask=ok, other=0.0) > 0
    return tl.where(up, tl.load(dout_ptr + r * gm + c * gn, mask=ok, other=0.0), 0.0)


@triton.jit
def dx_tiles(w_ptr, out_ptr, dout_ptr, dx_ptr, M, N, K, wn, wk, om, on, gm, gn, T: tl.constexpr):
    across = tl.cdiv(K, T)
    for t in range(tl.program_id(0), tl.cdiv(M, T) * across, tl.num_programs(0)):
        i = (t // across * T + tl.arange(0, T)).to(tl.int64)
        k = (t % across * T + tl.arange(0, T)).to(tl.int64)
        acc = tl.zeros((T, T), tl.float32)
        for j0 in range(0, N, T):
            j = (j0 + tl.arange(0, T)).to(tl.int64)
            g = masked(out_ptr, dout_ptr, i[:, None], j[None, :], M, N, om, on, gm, gn)
            w = tl.load(w_ptr + j[:, None] * wn + k[None, :] * wk, mask=(j[:, None] < N) & (k[None, :] < K), other=0.0)
            acc += tl.dot(g.to(w.dtype), w, input_precision="ieee")
        tl.store(dx_ptr + i[:, None] * K + k[None, :], acc, mask=(i[:, None] < M) & (k[None, :] < K))


@triton.jit
def dw_tiles(x_ptr, out_ptr, dout_ptr, dw_ptr, M, N, K, xm, xk, om, on, gm, gn, T: tl.constexpr):
    down = tl.cdiv(N, T)
    for t in range(tl.program_id(0), down * tl.cdiv(K, T), tl.num_programs(0)):
        j = (t % down * T + tl.arange(0, T)).to(tl.int64)
        k = (t // down * T + tl.arange(0, T)).to(tl.int64)
        acc = tl.zeros((T, T), tl.float32)
        for i0 in range(0, M, T):
            i = (i0 + tl.arange(0, T)).to(tl.int64)
            gt = masked(out_ptr, dout_ptr, i[None, :], j[:, None], M, N, om, on, gm, gn)
            x = tl.load(x_ptr + i[:, None] * xm + k[None, :] * xk, mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
            acc += tl.dot(gt.to(x.dtype), x, input_precision="ieee")
        tl.store(dw_ptr + j[:, None] * K + k[None, :], acc, mask=(j[:, None] < N) & (k[None, :] < K))


@triton.jit
def db_columns(out_ptr, dout_ptr, db_ptr, M, N, om, on, gm, gn, T: tl.constexpr):
    for j0 in range(tl.program_id(0) * T, N, tl.num_programs(0) * T):
        j = (j0 + tl.arange(0, T)).to(tl.int64)
        total = tl.zeros((T,), tl.float32)
        for i0 in range(0, M, T):
            i = (i0 + tl.arange(0, T)).to(tl.int64)
            g = masked(out_ptr, dout_ptr, i[:, None], j[None, :], M, N, om, on, gm, gn)
            total += tl.sum(g.to(tl.float32), axis=0)
        tl.store(db_ptr + j, total, mask=j < N)


def linear_bias_relu_backward(x, w, out, dout):
    M, K = x.shape
    N = w.shape[0]
    dx, dw = torch.empty((M, K), dtype=x.dtype, device=x.device), torch.empty((N, K), dtype=x.dtype, device=x.device)
    db = torch.empty(N, dtype=x.dtype, device=x.device)
    o, g = out.stride(), dout.stride()
    dx_tiles[(P,)](w, out, dout, dx, M, N, K, *w.stride(), *o, *g, T=32)
    dw_tiles[(P,)](x, out, dout, dw, M, N, K, *x.stride(), *o, *g, T=32)
    db_columns[(P,)](out, dout, db, M, N, *o, *g, T=32)
    return dx, dw, db
