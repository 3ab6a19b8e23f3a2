"""The columns of b are clamped by modulo m instead of modulo n."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_at(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    band = GROUP * tiles_n
    first = (tile // band) * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    inside = tile % band
    return first + inside % height, inside // height


@triton.jit
def product(
    a_ptr, b_ptr, out_ptr, m, n, k, a_m, a_k, b_k, b_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    deep = tl.arange(0, BK).to(tl.int64)
    for tile in range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        tile_m, tile_n = tile_at(tile, tiles_m, tiles_n, GROUP)
        rows = (tile_m * BM + tl.arange(0, BM)).to(tl.int64)
        cols = (tile_n * BN + tl.arange(0, BN)).to(tl.int64)
        a_ptrs = a_ptr + (rows % m)[:, None] * a_m + deep[None, :] * a_k
        b_ptrs = b_ptr + deep[:, None] * b_k + (cols % m)[None, :] * b_n
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, k, BK):
            a = tl.load(a_ptrs, mask=deep[None, :] < k - start, other=0.0)
            b = tl.load(b_ptrs, mask=deep[:, None] < k - start, other=0.0)
            acc += tl.dot(a, b, input_precision="ieee")
            a_ptrs += BK * a_k
            b_ptrs += BK * b_k
        mask = (rows[:, None] < m) & (cols[None, :] < n)
        tl.store(out_ptr + rows[:, None] * n + cols[None, :], acc.to(out_ptr.dtype.element_ty), mask=mask)


def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m * n == 0:
        return out
    product[(5,)](
        a, b, out, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), BM=32, BN=16, BK=16, GROUP=3
    )
    return out
