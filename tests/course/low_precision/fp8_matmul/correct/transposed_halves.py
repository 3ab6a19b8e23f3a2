"""Computes the transposed tile b.T @ a.T after converting e4m3 to float16 (exact), one-axis
grid.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def turned_fp8_kernel(
    a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn,
    TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr,
):
    """Computes a tile of c.T = b.T @ a.T; an e4m3 number is exact in float16."""
    pid = tl.program_id(0)
    rows_of_tiles = tl.cdiv(M, TM)
    i = (pid % rows_of_tiles).to(tl.int64) * TM + tl.arange(0, TM)
    j = (pid // rows_of_tiles).to(tl.int64) * TN + tl.arange(0, TN)
    i = i[None, :]
    j = j[:, None]
    acc = tl.zeros([TN, TM], dtype=tl.float32)
    for k0 in range(0, K, TK):
        k = k0 + tl.arange(0, TK)
        kr = k[None, :]
        kc = k[:, None]
        bt = tl.load(b_ptr + j * sbn + kr * sbk, mask=(j < N) & (kr < K), other=0.0)
        at = tl.load(a_ptr + i * sam + kc * sak, mask=(i < M) & (kc < K), other=0.0)
        acc = tl.dot(bt.to(tl.float16), at.to(tl.float16), acc)
    acc *= tl.load(sa_ptr + i, mask=i < M, other=0.0)
    acc *= tl.load(sb_ptr + j, mask=j < N, other=0.0)
    tl.store(c_ptr + i * N + j, acc.to(tl.bfloat16), mask=(i < M) & (j < N))


def fp8_matmul(a, b, scale_a, scale_b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    if m == 0 or n == 0:
        return c
    turned_fp8_kernel[(triton.cdiv(m, 32) * triton.cdiv(n, 64),)](
        a, b, scale_a, scale_b, c, m, n, k, *a.stride(), *b.stride(), TM=32, TN=64, TK=32
    )
    return c
