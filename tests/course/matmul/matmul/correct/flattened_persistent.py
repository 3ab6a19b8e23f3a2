import torch
import triton
import triton.language as tl


@triton.jit
def where_is(tile_id, num_n, num_m, GROUP: tl.constexpr):
    width = GROUP * num_n
    first = tile_id // width * GROUP
    size = min(num_m - first, GROUP)
    return first + tile_id % width % size, tile_id % width // size


@triton.jit
def flat(
    a_ptr,
    b_ptr,
    c_ptr,
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
    NSM: tl.constexpr,
):
    start = tl.program_id(0)
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    k_tiles = tl.maximum(tl.cdiv(K, BK), 1)
    num_tiles = num_m * num_n
    mine = num_tiles // NSM
    if start < num_tiles % NSM:
        mine += 1
    tile_id = start - NSM
    ki = -1
    offs_k = tl.arange(0, BK).to(tl.int64)
    rm = tl.arange(0, BM).to(tl.int64)
    rn = tl.arange(0, BN).to(tl.int64)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, k_tiles * mine):
        ki = tl.where(ki == k_tiles - 1, 0, ki + 1)
        if ki == 0:
            tile_id += NSM
            pid_m, pid_n = where_is(tile_id, num_n, num_m, 2)
            rm = pid_m * BM + tl.arange(0, BM).to(tl.int64)
            rn = pid_n * BN + tl.arange(0, BN).to(tl.int64)
        k = ki * BK + offs_k
        a = tl.load(
            a_ptr + rm[:, None] * sam + k[None, :] * sak,
            mask=(rm[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + k[:, None] * sbk + rn[None, :] * sbn,
            mask=(k[:, None] < K) & (rn[None, :] < N),
            other=0.0,
        )
        acc = tl.dot(a, b, acc, input_precision="ieee")
        if ki == k_tiles - 1:
            tl.store(
                c_ptr + rm[:, None] * N + rn[None, :],
                acc.to(c_ptr.dtype.element_ty),
                mask=(rm[:, None] < M) & (rn[None, :] < N),
            )
            acc = tl.zeros((BM, BN), dtype=tl.float32)


def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m and n:
        flat[(3,)](a, b, c, m, n, k, *a.stride(), *b.stride(), BM=32, BN=32, BK=32, NSM=3)
    return c
