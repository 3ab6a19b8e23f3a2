"""The accumulator is zeroed before the loop over tiles; the sides of a tile are called M and N."""

import torch
import triton
import triton.language as tl


@triton.jit
def stays(x_ptr, w_ptr, y_ptr, offsets_ptr, E, width, depth, most, xm, xk, we, wk, wn, EXPERTS: tl.constexpr,
          M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    lanes = tl.arange(0, EXPERTS)
    starts = tl.load(offsets_ptr + lanes, mask=lanes < E, other=0)
    ends = tl.load(offsets_ptr + lanes + 1, mask=lanes < E, other=0)
    tiles = (ends - starts + M - 1) // M
    sums = tl.cumsum(tiles, axis=0)
    tiles_n = tl.cdiv(width, N)
    n_tiles = tl.sum(tiles) * tiles_n
    acc = tl.zeros((M, N), dtype=tl.float32)
    for number in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        tile = number // tiles_n
        mine = (sums > tile) & (sums - tiles <= tile)
        expert = tl.sum(tl.where(mine, lanes, 0))
        row = tl.sum(tl.where(mine, starts + (tile - sums + tiles) * M, 0))
        end = tl.sum(tl.where(mine, ends, 0))
        m = row + tl.arange(0, M).to(tl.int64)
        n = number % tiles_n * N + tl.arange(0, N).to(tl.int64)
        for start in range(0, depth, K):
            k = start + tl.arange(0, K).to(tl.int64)
            a = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk, mask=(m < end)[:, None] & (k < depth)[None, :], other=0.0)
            b = tl.load(w_ptr + expert.to(tl.int64) * we + k[:, None] * wk + n[None, :] * wn, mask=(k < depth)[:, None] & (n < width)[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(y_ptr + m[:, None] * width + n[None, :], acc.to(y_ptr.dtype.element_ty), mask=(m < end)[:, None] & (n < width)[None, :])


def grouped_gemm(x, w, offsets):
    T, (E, depth, width) = x.shape[0], w.shape
    y = x.new_empty((T, width))
    most = triton.cdiv(T, 32) + E
    stays[(min(16, most * triton.cdiv(width, 32)),)](
        x, w, y, offsets, E, width, depth, most, *x.stride(), *w.stride(),
        EXPERTS=triton.next_power_of_2(E), M=32, N=32, K=32)
    return y
