"""No tl.dot: a program makes one row of dx, or one row of dw and its number of db."""

import torch
import triton
import triton.language as tl


@triton.jit
def dx_row(w_ptr, out_ptr, dout_ptr, dx_ptr, N, K, wn, wk, om, on, gm, gn, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BK)
    acc = tl.zeros((BK,), tl.float32)
    for start in range(0, N, BN):
        j = start + tl.arange(0, BN)
        is_open = tl.load(out_ptr + i * om + j * on, mask=j < N, other=0.0) > 0
        g = tl.load(dout_ptr + i * gm + j * gn, mask=is_open, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + j[:, None] * wn + c[None, :] * wk, mask=(j < N)[:, None] & (c < K)[None, :], other=0.0)
        acc += tl.sum(g[:, None] * w.to(tl.float32), axis=0)
    tl.store(dx_ptr + i * K + c, acc, mask=c < K)


@triton.jit
def dw_row(x_ptr, out_ptr, dout_ptr, dw_ptr, db_ptr, M, K, xm, xk, om, on, gm, gn, BM: tl.constexpr, BK: tl.constexpr):
    j = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BK)
    acc = tl.zeros((BK,), tl.float32)
    total = 0.0
    for start in range(0, M, BM):
        i = start + tl.arange(0, BM)
        is_open = tl.load(out_ptr + i * om + j * on, mask=i < M, other=0.0) > 0
        g = tl.load(dout_ptr + i * gm + j * gn, mask=is_open, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + i[:, None] * xm + c[None, :] * xk, mask=(i < M)[:, None] & (c < K)[None, :], other=0.0)
        acc += tl.sum(g[:, None] * x.to(tl.float32), axis=0)
        total += tl.sum(g)
    tl.store(dw_ptr + j * K + c, acc, mask=c < K)
    tl.store(db_ptr + j, total)


def linear_bias_relu_backward(x, w, out, dout):
    M, K = x.shape
    N = w.shape[0]
    dx = torch.empty((M, K), dtype=x.dtype, device=x.device)
    dw = torch.empty((N, K), dtype=w.dtype, device=w.device)
    db = torch.empty((N,), dtype=w.dtype, device=w.device)
    BK = max(16, triton.next_power_of_2(K))
    dx_row[(M,)](w, out, dout, dx, N, K, *w.stride(), *out.stride(), *dout.stride(), BN=64, BK=BK)
    dw_row[(N,)](x, out, dout, dw, db, M, K, *x.stride(), *out.stride(), *dout.stride(), BM=64, BK=BK)
    return dx, dw, db
