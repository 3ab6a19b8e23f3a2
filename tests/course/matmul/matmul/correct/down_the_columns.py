"""Computes the transposed tile c.T = b.T @ a.T with sideways loads and stores, on a one-
dimensional grid that runs down the columns of tiles, with advancing pointers.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product_sideways(
    a_ptr, b_ptr, c_ptr, M, N, K, tiles_down, sam, sak, sbk, sbn,
    TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr,
):
    """Works on the transposed tile: c.T = b.T @ a.T. The grid is a line, column of tiles by column."""
    tile = tl.program_id(0).to(tl.int64)
    m = (tile % tiles_down) * TM + tl.arange(0, TM)
    n = (tile // tiles_down) * TN + tl.arange(0, TN)
    k = tl.arange(0, TK).to(tl.int64)
    at_ptrs = a_ptr + k[:, None] * sak + m[None, :] * sam
    bt_ptrs = b_ptr + n[:, None] * sbn + k[None, :] * sbk
    acc = tl.zeros((TN, TM), dtype=tl.float32)
    for done in range(0, K, TK):
        left = K - done
        at = tl.load(at_ptrs, mask=(k < left)[:, None] & (m < M)[None, :], other=0.0)
        bt = tl.load(bt_ptrs, mask=(n < N)[:, None] & (k < left)[None, :], other=0.0)
        acc = tl.dot(bt, at, acc, input_precision="ieee")
        at_ptrs += TK * sak
        bt_ptrs += TK * sbk
    out = c_ptr + m[None, :] * N + n[:, None]
    tl.store(out, acc.to(c_ptr.dtype.element_ty), mask=(n < N)[:, None] & (m < M)[None, :])


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    M, K = a.shape
    _, N = b.shape
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    tm, tn, tk = 64, 32, 32
    tiles_down, tiles_across = triton.cdiv(M, tm), triton.cdiv(N, tn)
    if tiles_down == 0 or tiles_across == 0:
        return c
    product_sideways[(tiles_down * tiles_across,)](
        a, b, c, M, N, K, tiles_down, *a.stride(), *b.stride(), TM=tm, TN=tn, TK=tk
    )
    return c
