"""Groups of four rows of tiles, and pointers that advance along k."""

import torch
import triton
import triton.language as tl

@triton.jit
def mm(A, B, C, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(axis=0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    group = pid // (GROUP * tiles_n)
    first = group * GROUP
    size = min(tiles_m - first, GROUP)
    pid_m = first + (pid % (GROUP * tiles_n)) % size
    pid_n = (pid % (GROUP * tiles_n)) // size
    rm = pid_m * BM + tl.arange(0, BM).to(tl.int64)
    rn = pid_n * BN + tl.arange(0, BN).to(tl.int64)
    rk = tl.arange(0, BK).to(tl.int64)
    pa = A + rm[:, None] * sam + rk[None, :] * sak
    pb = B + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        a = tl.load(pa, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0)
        b = tl.load(pb, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        pa += BK * sak
        pb += BK * sbk
    tl.store(C + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def grouped_matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    programs = triton.cdiv(M, 64) * triton.cdiv(N, 64)
    mm[(programs,)](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=64, BN=64, BK=16, GROUP=4, num_warps=4, num_stages=2)
    return c
