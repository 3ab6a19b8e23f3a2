"""Tiles become float16 before the product: every number of e4m3 is one of float16, too."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, sa_ptr, sb_ptr, out_ptr, m, n, k, am, ak, bk, bn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rows[:, None] * am + inner[None, :] * ak,
            mask=(rows < m)[:, None] & (inner < k)[None, :], other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + inner[:, None] * bk + cols[None, :] * bn,
            mask=(inner < k)[:, None] & (cols < n)[None, :], other=0.0,
        )  # fmt: skip
        acc += tl.dot(a.to(tl.float16), b.to(tl.float16))
    acc *= tl.load(sa_ptr + rows, mask=rows < m, other=1.0)[:, None]
    acc *= tl.load(sb_ptr + cols, mask=cols < n, other=1.0)[None, :]
    keep = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(out_ptr + rows[:, None] * n + cols[None, :], acc, mask=keep)


def fp8_matmul(a, b, scale_a, scale_b):
    m, k = a.shape
    n = b.size(1)
    out = a.new_empty((m, n), dtype=torch.bfloat16)
    kernel[(triton.cdiv(n, 32), triton.cdiv(m, 16))](
        a, b, scale_a, scale_b, out, m, n, k, *a.stride(), *b.stride(), BM=16, BN=32, BK=16
    )
    return out
