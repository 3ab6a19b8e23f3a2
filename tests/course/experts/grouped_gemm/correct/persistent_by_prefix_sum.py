"""Programs that stay, over the most tiles there can be; each tile is looked up in a prefix sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def find(tile, offsets_ptr, E, EXPERTS: tl.constexpr, BM: tl.constexpr):
    lanes = tl.arange(0, EXPERTS)
    starts = tl.load(offsets_ptr + lanes, mask=lanes < E, other=0)
    ends = tl.load(offsets_ptr + lanes + 1, mask=lanes < E, other=0)
    tiles = (ends - starts + BM - 1) // BM
    sums = tl.cumsum(tiles, axis=0)
    mine = (sums > tile) & (sums - tiles <= tile)
    expert = tl.sum(tl.where(mine, lanes, 0))
    row = tl.sum(tl.where(mine, starts + (tile - sums + tiles) * BM, 0))
    end = tl.sum(tl.where(mine, ends, 0))
    return expert, row, end


@triton.jit
def kernel(x_ptr, w_ptr, y_ptr, offsets_ptr, E, N, K, most, xm, xk, we, wk, wn, EXPERTS: tl.constexpr,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    for number in tl.range(tl.program_id(0), most * tiles_n, tl.num_programs(0)):
        expert, row, end = find(number // tiles_n, offsets_ptr, E, EXPERTS, BM)
        m = row + tl.arange(0, BM).to(tl.int64)
        n = number % tiles_n * BN + tl.arange(0, BN).to(tl.int64)
        in_m, in_n = (m < end)[:, None], (n < N)[None, :]
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, K, BK):
            k = start + tl.arange(0, BK).to(tl.int64)
            a = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk, mask=in_m & (k < K)[None, :], other=0.0)
            b = tl.load(w_ptr + expert.to(tl.int64) * we + k[:, None] * wk + n[None, :] * wn, mask=in_n & (k < K)[:, None], other=0.0)
            acc += tl.dot(a, b, input_precision="ieee")
        tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(y_ptr.dtype.element_ty), mask=in_m & in_n)


def grouped_gemm(x, w, offsets):
    T = x.shape[0]
    E, K, N = w.shape
    y = x.new_empty((T, N))
    most = triton.cdiv(T, 64) + E - 1
    kernel[(min(132, max(1, most * triton.cdiv(N, 64))),)](
        x, w, y, offsets, E, N, K, most, *x.stride(), *w.stride(),
        EXPERTS=triton.next_power_of_2(E), BM=64, BN=64, BK=32)
    return y
