"""db in two steps: every block of rows stores its part in a row of its own; a second kernel adds."""

import torch
import triton
import triton.language as tl

BLOCK = 32


@triton.jit
def tile(ptr, r, c, R, C, sr, sc):
    return tl.load(ptr + r[:, None] * sr + c[None, :] * sc, mask=(r < R)[:, None] & (c < C)[None, :], other=0.0)


@triton.jit
def dx_and_parts(w_ptr, out_ptr, dout_ptr, dx_ptr, parts_ptr, M, N, K, ws, outs, douts, B: tl.constexpr):
    block = tl.program_id(0)
    rows = block.to(tl.int64) * B + tl.arange(0, B)
    cols = tl.program_id(1).to(tl.int64) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for start in range(0, N, B):
        n = start + tl.arange(0, B).to(tl.int64)
        o = tile(out_ptr, rows, n, M, N, outs[0], outs[1])
        g = tile(dout_ptr, rows, n, M, N, douts[0], douts[1])
        g = tl.where(o > 0, g, tl.zeros_like(g))
        acc = tl.dot(g, tile(w_ptr, n, cols, N, K, ws[0], ws[1]), acc, input_precision="ieee")
        if tl.program_id(1) == 0:
            tl.store(parts_ptr + block * N + n, tl.sum(g.to(tl.float32), axis=0), mask=n < N)
    tl.store(dx_ptr + rows[:, None] * K + cols[None, :], acc.to(dx_ptr.dtype.element_ty), mask=(rows < M)[:, None] & (cols < K)[None, :])


@triton.jit
def dw_only(x_ptr, out_ptr, dout_ptr, dw_ptr, M, N, K, xs, outs, douts, B: tl.constexpr):
    n = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    cols = tl.program_id(1).to(tl.int64) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for start in range(0, M, B):
        rows = start + tl.arange(0, B).to(tl.int64)
        o = tile(out_ptr, rows, n, M, N, outs[0], outs[1])
        g = tile(dout_ptr, rows, n, M, N, douts[0], douts[1])
        g = tl.where(o > 0, g, tl.zeros_like(g))
        acc = tl.dot(g.T, tile(x_ptr, rows, cols, M, K, xs[0], xs[1]), acc, input_precision="ieee")
    tl.store(dw_ptr + n[:, None] * K + cols[None, :], acc.to(dw_ptr.dtype.element_ty), mask=(n < N)[:, None] & (cols < K)[None, :])


@triton.jit
def add_parts(parts_ptr, db_ptr, n_parts, N, B: tl.constexpr):
    n = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), dtype=tl.float32)
    for part in range(n_parts):
        total += tl.load(parts_ptr + part * N + n, mask=n < N, other=0.0)
    tl.store(db_ptr + n, total, mask=n < N)


def linear_bias_relu_backward(x, w, out, dout):
    (m, k), (n, _) = x.shape, w.shape
    blocks = triton.cdiv(m, BLOCK)
    dx = torch.empty((m, k), dtype=x.dtype, device=x.device)
    dw = torch.empty((n, k), dtype=w.dtype, device=w.device)
    db = torch.empty(n, dtype=w.dtype, device=w.device)
    parts = torch.empty((blocks, n), dtype=torch.float32, device=w.device)
    dx_and_parts[(blocks, max(1, triton.cdiv(k, BLOCK)))](w, out, dout, dx, parts, m, n, k, w.stride(), out.stride(), dout.stride(), B=BLOCK)
    dw_only[(triton.cdiv(n, BLOCK), triton.cdiv(k, BLOCK))](x, out, dout, dw, m, n, k, x.stride(), out.stride(), dout.stride(), B=BLOCK)
    add_parts[(triton.cdiv(n, 64),)](parts, db, blocks, n, B=64)
    return dx, dw, db
