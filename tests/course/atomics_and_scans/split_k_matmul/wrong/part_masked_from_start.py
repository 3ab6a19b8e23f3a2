"""The mask of k counts from the beginning of the round, not from the block of the part."""

import torch
import triton
import triton.language as tl


@triton.jit
def parts_kernel(a_ptr, b_ptr, sums_ptr, M, N, K, am, ak, bk, bn, SPLITS, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    cols = tl.program_id(1) * TN + tl.arange(0, TN)
    lanes = tl.arange(0, TK)
    part = tl.program_id(2)
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for start in range(0, K, TK * SPLITS):
        own = start + part * TK + lanes
        valid = start + lanes < K
        a = tl.load(a_ptr + rows[:, None] * am + own[None, :] * ak, mask=(rows[:, None] < M) & valid[None, :], other=0.0)
        b = tl.load(b_ptr + own[:, None] * bk + cols[None, :] * bn, mask=valid[:, None] & (cols[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.atomic_add(sums_ptr + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def split_k_matmul(a, b, splits):
    (M, K), N = a.shape, b.shape[1]
    sums = torch.zeros((M, N), dtype=torch.float32, device=a.device)
    if M and N and K:
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), splits)
        parts_kernel[grid](a, b, sums, M, N, K, *a.stride(), *b.stride(), splits, TM=32, TN=32, TK=32)
    return sums.to(a.dtype)
