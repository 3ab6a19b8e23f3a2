"""Several configurations; the grid follows from the one that is tried."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}, num_warps=4),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 128, "BLOCK_K": 32}, num_warps=4),
    ],
    key=["N", "K"],
)
@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, offsets_ptr, E, N, K, xm, xk, we, wk, wn, EXPERTS: tl.constexpr,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tile = tl.program_id(0)
    lanes = tl.arange(0, EXPERTS)
    lo = tl.load(offsets_ptr + lanes, mask=lanes < E, other=0)
    hi = tl.load(offsets_ptr + lanes + 1, mask=lanes < E, other=0)
    tiles = tl.cdiv(hi - lo, BLOCK_M)
    behind = tl.cumsum(tiles, 0)
    mine = (behind > tile) & (behind - tiles <= tile)
    if tl.sum(mine.to(tl.int32)) == 1:
        expert = tl.argmax(mine.to(tl.int32), axis=0)
        start = tl.max(tl.where(mine, lo + (tile - behind + tiles) * BLOCK_M, 0))
        end = tl.max(tl.where(mine, hi, 0))
        m = start + tl.arange(0, BLOCK_M).to(tl.int64)
        n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k0 in range(0, K, BLOCK_K):
            k = k0 + tl.arange(0, BLOCK_K).to(tl.int64)
            a = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk, mask=(m < end)[:, None] & (k < K)[None, :], other=0.0)
            b = tl.load(w_ptr + expert.to(tl.int64) * we + k[:, None] * wk + n[None, :] * wn, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty), mask=(m < end)[:, None] & (n < N)[None, :])


def grouped_gemm(x, w, offsets):
    T, (E, K, N) = x.shape[0], w.shape
    out = torch.empty((T, N), dtype=x.dtype, device=x.device)
    if T == 0 or N == 0:
        return out
    grid = lambda meta: (triton.cdiv(T, meta["BLOCK_M"]) + E, triton.cdiv(N, meta["BLOCK_N"]))
    kernel[grid](x, w, out, offsets, E, N, K, *x.stride(), *w.stride(), EXPERTS=triton.next_power_of_2(E))
    return out
