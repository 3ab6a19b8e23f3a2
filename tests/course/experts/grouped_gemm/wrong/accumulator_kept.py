"""The accumulator is zeroed before the loop over tiles."""

import torch
import triton
import triton.language as tl


@triton.jit
def stays(x_ptr, w_ptr, y_ptr, offsets_ptr, E, N, K, most, xm, xk, we, wk, wn, EXPERTS: tl.constexpr,
          BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    lanes = tl.arange(0, EXPERTS)
    starts = tl.load(offsets_ptr + lanes, mask=lanes < E, other=0)
    ends = tl.load(offsets_ptr + lanes + 1, mask=lanes < E, other=0)
    tiles = (ends - starts + BM - 1) // BM
    sums = tl.cumsum(tiles, axis=0)
    tiles_n = tl.cdiv(N, BN)
    n_tiles = tl.sum(tiles) * tiles_n
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for number in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        tile = number // tiles_n
        mine = (sums > tile) & (sums - tiles <= tile)
        expert = tl.sum(tl.where(mine, lanes, 0))
        row = tl.sum(tl.where(mine, starts + (tile - sums + tiles) * BM, 0))
        end = tl.sum(tl.where(mine, ends, 0))
        m = row + tl.arange(0, BM).to(tl.int64)
        n = number % tiles_n * BN + tl.arange(0, BN).to(tl.int64)
        for start in range(0, K, BK):
            k = start + tl.arange(0, BK).to(tl.int64)
            a = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk, mask=(m < end)[:, None] & (k < K)[None, :], other=0.0)
            b = tl.load(w_ptr + expert.to(tl.int64) * we + k[:, None] * wk + n[None, :] * wn, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(y_ptr.dtype.element_ty), mask=(m < end)[:, None] & (n < N)[None, :])


def grouped_gemm(x, w, offsets):
    T, (E, K, N) = x.shape[0], w.shape
    y = x.new_empty((T, N))
    most = triton.cdiv(T, 32) + E
    stays[(min(16, most * triton.cdiv(N, 32)),)](
        x, w, y, offsets, E, N, K, most, *x.stride(), *w.stride(),
        EXPERTS=triton.next_power_of_2(E), BM=32, BN=32, BK=32)
    return y
