"""The accumulator is not set back to zero for the next tile of a persistent program."""

import torch
import triton
import triton.language as tl


@triton.jit
def mm_persistent(
    A,
    B,
    C,
    M,
    N,
    K,
    sam,
    sak,
    sbk,
    sbn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS):
        row = (tile // tiles_n) * BM
        col = (tile % tiles_n) * BN
        rm = row + tl.arange(0, BM).to(tl.int64)
        rn = col + tl.arange(0, BN).to(tl.int64)
        for k0 in tl.range(0, K, BK, num_stages=3):
            rk = k0 + tl.arange(0, BK).to(tl.int64)
            at = tl.load(
                A + rm[:, None] * sam + rk[None, :] * sak,
                mask=(rm[:, None] < M) & (rk[None, :] < K),
                other=0,
            )
            bt = tl.load(
                B + rk[:, None] * sbk + rn[None, :] * sbn,
                mask=(rk[:, None] < K) & (rn[None, :] < N),
                other=0,
            )
            acc += tl.dot(at, bt, input_precision="ieee")
        tl.store(C + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    C = a.new_empty((M, N))
    if C.numel() > 0:
        mm_persistent[(4,)](
            a, b, C, M, N, K, *a.stride(), *b.stride(), BM=32, BN=32, BK=32, PROGRAMS=4
        )
    return C
