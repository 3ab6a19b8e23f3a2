"""Dense copies of all four; flat grids; the tile of w is loaded turned and transposed back."""

import torch
import triton
import triton.language as tl


@triton.jit
def dx_flat(w_ptr, o_ptr, g_ptr, dx_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    grid_k = (K + BK - 1) // BK
    m = pid // grid_k * BM + tl.arange(0, BM)
    k = pid % grid_k * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BK), tl.float32)
    for step in range((N + BN - 1) // BN):
        n = step * BN + tl.arange(0, BN)
        at = m[:, None] * N + n[None, :]
        ok = (m[:, None] < M) & (n[None, :] < N)
        g = tl.where(tl.load(o_ptr + at, mask=ok, other=-1.0) > 0, tl.load(g_ptr + at, mask=ok, other=0.0), 0.0)
        wt = tl.load(w_ptr + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(g, tl.trans(wt), input_precision="ieee")
    tl.store(dx_ptr + m[:, None] * K + k[None, :], acc.to(dx_ptr.dtype.element_ty), mask=(m[:, None] < M) & (k[None, :] < K))


@triton.jit
def dwt_flat(x_ptr, o_ptr, g_ptr, dw_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """dw by way of its transpose: x.T @ g, stored turned."""
    pid = tl.program_id(0)
    grid_n = (N + BN - 1) // BN
    n = pid % grid_n * BN + tl.arange(0, BN)
    k = pid // grid_n * BK + tl.arange(0, BK)
    acc = tl.zeros((BK, BN), tl.float32)
    for step in range((M + BM - 1) // BM):
        m = step * BM + tl.arange(0, BM)
        at = m[:, None] * N + n[None, :]
        ok = (m[:, None] < M) & (n[None, :] < N)
        g = tl.where(tl.load(o_ptr + at, mask=ok, other=-1.0) > 0, tl.load(g_ptr + at, mask=ok, other=0.0), 0.0)
        xt = tl.load(x_ptr + m[None, :] * K + k[:, None], mask=(m[None, :] < M) & (k[:, None] < K), other=0.0)
        acc += tl.dot(xt, g, input_precision="ieee")
    tl.store(dw_ptr + n[None, :] * K + k[:, None], acc.to(dw_ptr.dtype.element_ty), mask=(n[None, :] < N) & (k[:, None] < K))


@triton.jit
def db_flat(o_ptr, g_ptr, db_ptr, M, N, BM: tl.constexpr):
    n = tl.program_id(0)
    m = tl.arange(0, BM)
    ok = m < M
    o = tl.load(o_ptr + m * N + n, mask=ok, other=0.0).to(tl.float32)
    g = tl.load(g_ptr + m * N + n, mask=ok, other=0.0).to(tl.float32)
    tl.store(db_ptr + n, tl.sum(tl.where(o > 0, g, 0.0), axis=0))


def linear_bias_relu_backward(x, w, out, dout):
    x, w, out, dout = x.contiguous(), w.contiguous(), out.contiguous(), dout.contiguous()
    M, K = x.shape
    N = w.shape[0]
    dx, dw = torch.empty_like(x), torch.empty_like(w)
    db = torch.empty((N,), dtype=w.dtype, device=w.device)
    c = triton.cdiv
    dx_flat[(c(M, 32) * c(K, 16),)](w, out, dout, dx, M, N, K, BM=32, BN=64, BK=16)
    dwt_flat[(c(N, 16) * c(K, 32),)](x, out, dout, dw, M, N, K, BM=64, BN=16, BK=32)
    db_flat[(N,)](out, dout, db, M, N, BM=triton.next_power_of_2(max(1, M)))
    return (dx, dw, db)
