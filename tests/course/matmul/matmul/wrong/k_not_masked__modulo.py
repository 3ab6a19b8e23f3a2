"""Rows and columns wrap around, and the end of k is forgotten."""

import torch
import triton
import triton.language as tl

@triton.jit
def mm(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    n = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    pa = a_ptr + m[:, None] * am + k[None, :] * ak
    pb = b_ptr + k[:, None] * bk + n[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        acc += tl.dot(tl.load(pa), tl.load(pb), input_precision="ieee")
        pa += BK * ak
        pb += BK * bk
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty))


def matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    mm[(triton.cdiv(M, 64), triton.cdiv(N, 64))](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=64, BN=64, BK=64)
    return c
