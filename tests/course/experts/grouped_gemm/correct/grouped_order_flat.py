"""A flat grid in grouped order over the most tiles there can be; the expert comes from a loop."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, offsets_ptr, E, N, K, most_tiles, xm, xk, we, wk, wn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = tl.swizzle2d(pid // tiles_n, pid % tiles_n, most_tiles, tiles_n, GROUP)
    row = 0
    end = 0
    chosen = -1
    before = 0
    for expert in range(E):
        lo = tl.load(offsets_ptr + expert)
        hi = tl.load(offsets_ptr + expert + 1)
        tiles = tl.cdiv(hi - lo, BLOCK_M)
        here = (pid_m >= before) & (pid_m < before + tiles)
        chosen = tl.where(here, expert, chosen)
        row = tl.where(here, lo + (pid_m - before) * BLOCK_M, row)
        end = tl.where(here, hi, end)
        before += tiles
    if chosen >= 0:
        m = row.to(tl.int64) + tl.arange(0, BLOCK_M)
        n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        x_ptrs = x_ptr + m[:, None] * xm + tl.arange(0, BLOCK_K)[None, :] * xk
        w_ptrs = w_ptr + chosen.to(tl.int64) * we + tl.arange(0, BLOCK_K)[:, None] * wk + n[None, :] * wn
        for k in range(0, tl.cdiv(K, BLOCK_K)):
            left = K - k * BLOCK_K
            a = tl.load(x_ptrs, mask=(m[:, None] < end) & (tl.arange(0, BLOCK_K)[None, :] < left), other=0.0)
            b = tl.load(w_ptrs, mask=(n[None, :] < N) & (tl.arange(0, BLOCK_K)[:, None] < left), other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
            x_ptrs += BLOCK_K * xk
            w_ptrs += BLOCK_K * wk
        tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty), mask=(m[:, None] < end) & (n[None, :] < N))


def grouped_gemm(x, w, offsets):
    E, K, N = w.shape
    out = torch.empty((x.shape[0], N), dtype=x.dtype, device=x.device)
    most = triton.cdiv(x.shape[0], 32) + E
    kernel[(most * triton.cdiv(N, 32),)](x, w, out, offsets, E, N, K, most, *x.stride(), *w.stride(),
                                         BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP=4)
    return out
