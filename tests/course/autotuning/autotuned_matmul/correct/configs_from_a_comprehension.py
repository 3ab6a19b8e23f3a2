"""A flat grid, pointers that advance along k, and a mask for what is left of k."""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BM": bm, "BN": bn, "BK": 32}, num_warps=4)
    for bm in (32, 64)
    for bn in (32, 64)
]


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.jit
def mm(A, B, C, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(axis=0)
    width = tl.cdiv(N, BN)
    rm = (pid // width) * BM + tl.arange(0, BM).to(tl.int64)
    rn = (pid % width) * BN + tl.arange(0, BN).to(tl.int64)
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


def autotuned_matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    mm[lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)](a, b, c, M, N, K, *a.stride(), *b.stride())
    return c
