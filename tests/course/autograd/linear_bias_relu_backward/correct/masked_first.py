"""A kernel writes g once; one matmul kernel serves dx and dw by its strides; db from the dense g."""

import torch
import triton
import triton.language as tl


@triton.jit
def mask_kernel(out_ptr, dout_ptr, g_ptr, M, N, om, on, gm, gn, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)[:, None]
    j = tl.program_id(1).to(tl.int64) * B + tl.arange(0, B)[None, :]
    ok = (i < M) & (j < N)
    keep = tl.load(out_ptr + i * om + j * on, mask=ok, other=0.0) != 0
    tl.store(g_ptr + i * N + j, tl.load(dout_ptr + i * gm + j * gn, mask=ok & keep, other=0.0), mask=ok)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, P, Q, R, ap, ar, br, bq, B: tl.constexpr):
    """c (P, Q) = a (P, R) @ b (R, Q)"""
    p = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    q = tl.program_id(1).to(tl.int64) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for r0 in range(0, R, B):
        r = r0 + tl.arange(0, B).to(tl.int64)
        a = tl.load(a_ptr + p[:, None] * ap + r[None, :] * ar, mask=(p[:, None] < P) & (r[None, :] < R), other=0.0)
        b = tl.load(b_ptr + r[:, None] * br + q[None, :] * bq, mask=(r[:, None] < R) & (q[None, :] < Q), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + p[:, None] * Q + q[None, :], acc.to(c_ptr.dtype.element_ty), mask=(p[:, None] < P) & (q[None, :] < Q))


@triton.jit
def column_sum(g_ptr, db_ptr, M, N, B: tl.constexpr):
    j = tl.program_id(0)
    total = 0.0
    for i0 in range(0, M, B):
        i = i0 + tl.arange(0, B)
        total += tl.sum(tl.load(g_ptr + i * N + j, mask=i < M, other=0.0).to(tl.float32))
    tl.store(db_ptr + j, total)


def linear_bias_relu_backward(x, w, out, dout):
    m, k = x.shape
    n = w.shape[0]
    g = torch.empty((m, n), dtype=x.dtype, device=x.device)
    dx, dw, db = (torch.empty(s, dtype=x.dtype, device=x.device) for s in ((m, k), (n, k), (n,)))
    cdiv = triton.cdiv
    mask_kernel[(cdiv(m, 32), cdiv(n, 32))](out, dout, g, m, n, *out.stride(), *dout.stride(), B=32)
    product[(cdiv(m, 32), cdiv(k, 32))](g, w, dx, m, k, n, n, 1, *w.stride(), B=32)
    product[(cdiv(n, 32), cdiv(k, 32))](g, x, dw, n, k, m, 1, n, *x.stride(), B=32)
    column_sum[(n,)](g, db, m, n, B=64)
    return dx, dw, db
