"""Scratch matrices for all parts (contiguous runs of k blocks, also parts without blocks store
zeros) and a second kernel that adds them in order; one-axis grid with the part fastest.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def part_kernel(
    a_ptr, b_ptr, scratch_ptr, M, N, K, sam, sak, sbk, sbn, splits,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    """One part of one tile, stored in a matrix of the part's own."""
    pid = tl.program_id(0)
    part = pid % splits
    tile = pid // splits
    across = tl.cdiv(N, BN)
    i = (tile // across).to(tl.int64) * BM + tl.arange(0, BM)
    j = (tile % across).to(tl.int64) * BN + tl.arange(0, BN)
    blocks = tl.cdiv(K, BK)
    per_part = tl.cdiv(blocks, splits)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for block in range(part * per_part, tl.minimum((part + 1) * per_part, blocks)):
        k = block * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + i[:, None] * sam + k[None, :] * sak, mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * sbk + j[None, :] * sbn, mask=(k[:, None] < K) & (j[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    place = (part * M + i)[:, None] * N + j[None, :]
    tl.store(scratch_ptr + place, acc.to(scratch_ptr.dtype.element_ty), mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def sum_kernel(scratch_ptr, out_ptr, size, splits, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    place = scratch_ptr + i
    for _ in range(0, splits):
        total += tl.load(place, mask=i < size, other=0.0).to(tl.float32)
        place += size
    tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty), mask=i < size)


def split_k_matmul(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if out.numel() == 0:
        return out
    scratch = torch.empty((splits, m, n), dtype=torch.float32, device=a.device)
    tiles = triton.cdiv(m, 32) * triton.cdiv(n, 64)
    part_kernel[(tiles * splits,)](
        a, b, scratch, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), splits,
        BM=32, BN=64, BK=32,
    )
    sum_kernel[(triton.cdiv(m * n, 256),)](scratch, out, m * n, splits, BLOCK=256)
    return out
