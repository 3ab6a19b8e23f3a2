"""dout is read as out lies."""

import torch
import triton
import triton.language as tl

@triton.jit
def grad_x(w_ptr, out_ptr, dout_ptr, dx_ptr, M, N, K, wn, wk, om, on, gm, gn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    k = tl.program_id(1).to(tl.int64) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BK), dtype=tl.float32)
    for start in range(0, N, BN):
        n = start + tl.arange(0, BN).to(tl.int64)
        ok = (m[:, None] < M) & (n[None, :] < N)
        out = tl.load(out_ptr + m[:, None] * om + n[None, :] * on, mask=ok, other=0.0)
        dout = tl.load(dout_ptr + m[:, None] * om + n[None, :] * on, mask=ok, other=0.0)
        g = tl.where(out > 0, dout, 0.0)
        w = tl.load(w_ptr + n[:, None] * wn + k[None, :] * wk, mask=(n[:, None] < N) & (k[None, :] < K), other=0.0)
        acc += tl.dot(g, w, input_precision="ieee")
    tl.store(dx_ptr + m[:, None] * K + k[None, :], acc.to(dx_ptr.dtype.element_ty), mask=(m[:, None] < M) & (k[None, :] < K))


@triton.jit
def grad_w(x_ptr, out_ptr, dout_ptr, dw_ptr, M, N, K, xm, xk, om, on, gm, gn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0).to(tl.int64) * BN + tl.arange(0, BN)
    k = tl.program_id(1).to(tl.int64) * BK + tl.arange(0, BK)
    acc = tl.zeros((BN, BK), dtype=tl.float32)
    for start in range(0, M, BM):
        m = start + tl.arange(0, BM).to(tl.int64)
        ok = (m[:, None] < M) & (n[None, :] < N)
        out = tl.load(out_ptr + m[:, None] * om + n[None, :] * on, mask=ok, other=0.0)
        dout = tl.load(dout_ptr + m[:, None] * om + n[None, :] * on, mask=ok, other=0.0)
        g = tl.where(out > 0, dout, 0.0)
        x = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        acc += tl.dot(tl.trans(g), x, input_precision="ieee")
    tl.store(dw_ptr + n[:, None] * K + k[None, :], acc.to(dw_ptr.dtype.element_ty), mask=(n[:, None] < N) & (k[None, :] < K))


@triton.jit
def grad_b(out_ptr, dout_ptr, db_ptr, M, N, om, on, gm, gn, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0).to(tl.int64) * BN + tl.arange(0, BN)
    total = tl.zeros((BN,), dtype=tl.float32)
    for start in range(0, M, BM):
        m = start + tl.arange(0, BM).to(tl.int64)
        ok = (m[:, None] < M) & (n[None, :] < N)
        out = tl.load(out_ptr + m[:, None] * om + n[None, :] * on, mask=ok, other=0.0)
        dout = tl.load(dout_ptr + m[:, None] * om + n[None, :] * on, mask=ok, other=0.0)
        total += tl.sum(tl.where(out > 0, dout, 0.0).to(tl.float32), axis=0)
    tl.store(db_ptr + n, total.to(db_ptr.dtype.element_ty), mask=n < N)


def linear_bias_relu_backward(x, w, out, dout):
    M, K = x.shape
    N = w.shape[0]
    dx = torch.empty((M, K), dtype=x.dtype, device=x.device)
    dw = torch.empty((N, K), dtype=w.dtype, device=x.device)
    db = torch.empty((N,), dtype=w.dtype, device=x.device)
    B = 32
    grad_x[(triton.cdiv(M, B), triton.cdiv(K, B))](w, out, dout, dx, M, N, K, *w.stride(), *out.stride(), *dout.stride(), BM=B, BN=B, BK=B)
    grad_w[(triton.cdiv(N, B), triton.cdiv(K, B))](x, out, dout, dw, M, N, K, *x.stride(), *out.stride(), *dout.stride(), BM=B, BN=B, BK=B)
    grad_b[(triton.cdiv(N, B),)](out, dout, db, M, N, *out.stride(), *dout.stride(), BM=B, BN=B)
    return dx, dw, db
