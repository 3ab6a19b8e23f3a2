"""An expert without rows is taken for the end of the list."""

import torch
import triton
import triton.language as tl


@triton.jit
def _product(X, W, Y, row, end, col, N, K, xs, xk, wk, wn, M_: tl.constexpr, N_: tl.constexpr, K_: tl.constexpr):
    r = (row + tl.arange(0, M_)).to(tl.int64)
    c = (col + tl.arange(0, N_)).to(tl.int64)
    acc = tl.zeros((M_, N_), dtype=tl.float32)
    for kb in range(0, tl.cdiv(K, K_)):
        q = kb * K_ + tl.arange(0, K_).to(tl.int64)
        xt = tl.load(X + r[:, None] * xs + q[None, :] * xk, mask=(r < end)[:, None] & (q < K)[None, :], other=0)
        wt = tl.load(W + q[:, None] * wk + c[None, :] * wn, mask=(q < K)[:, None] & (c < N)[None, :], other=0)
        acc += tl.dot(xt, wt, input_precision="ieee")
    tl.store(Y + r[:, None] * N + c[None, :], acc.to(Y.dtype.element_ty), mask=(r < end)[:, None] & (c < N)[None, :])


@triton.jit
def walk_experts(X, W, Y, OFF, E, N, K, xs, xk, we, wk, wn, M_: tl.constexpr, N_: tl.constexpr, K_: tl.constexpr):
    # persistent: a program walks over the experts with its tile number, which only grows
    wide = tl.cdiv(N, N_)
    tile = tl.program_id(0)
    done = 0
    expert = tile * 0
    lo = tl.load(OFF)
    hi = tl.load(OFF + 1)
    here = tl.cdiv(hi - lo, M_) * wide
    while expert < E:
        if tile >= done + here:
            # no more tiles here: on to the next expert that has rows
            done += here
            expert += 1
            lo = hi
            hi = tl.load(OFF + expert + 1, mask=expert < E, other=0)
            here = tl.cdiv(hi - lo, M_) * wide
            if hi == lo:
                expert = expert * 0 + E
        else:
            local = tile - done
            _product(X, W + expert.to(tl.int64) * we, Y, lo + (local // wide) * M_, hi, (local % wide) * N_,
                     N, K, xs, xk, wk, wn, M_, N_, K_)
            tile += tl.num_programs(0)


def grouped_gemm(x, w, offsets):
    T, K = x.shape
    E, N = w.shape[0], w.shape[2]
    out = torch.empty(T, N, dtype=x.dtype, device=x.device)
    if out.numel():
        most = (triton.cdiv(T, 32) + min(E, T)) * triton.cdiv(N, 16)
        walk_experts[(min(most, 64),)](x, w, out, offsets, E, N, K, *x.stride(), *w.stride(), M_=32, N_=16, K_=16)
    return out
