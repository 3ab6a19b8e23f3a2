"""The sum, each scale and each product are rounded to bfloat16."""

import torch
import triton
import triton.language as tl


@triton.jit
def fp8_kernel(a_ptr, b_ptr, sa_ptr, sb_ptr, out_ptr, M, N, K, sam, sak, sbk, sbn,
               BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    wide = (N + BN - 1) // BN
    rows = (pid // wide) * BM + tl.arange(0, BM)
    cols = (pid % wide) * BN + tl.arange(0, BN)
    near_rows = (rows % M).to(tl.int64)
    near_cols = (cols % N).to(tl.int64)
    ks = tl.arange(0, BK).to(tl.int64)
    a_ptrs = a_ptr + near_rows[:, None] * sam + ks[None, :] * sak
    b_ptrs = b_ptr + ks[:, None] * sbk + near_cols[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for done in range(0, K, BK):
        left = K - done
        a = tl.load(a_ptrs, mask=ks[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < left, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BK * sak
        b_ptrs += BK * sbk
    sa = tl.load(sa_ptr + near_rows)
    sb = tl.load(sb_ptr + near_cols)
    result = acc.to(tl.bfloat16).to(tl.float32) * sa.to(tl.bfloat16).to(tl.float32)[:, None]
    result = result.to(tl.bfloat16).to(tl.float32) * sb.to(tl.bfloat16).to(tl.float32)[None, :]
    places = out_ptr + rows.to(tl.int64)[:, None] * N + cols[None, :]
    tl.store(places, result.to(tl.bfloat16), mask=(rows[:, None] < M) & (cols[None, :] < N))


def fp8_matmul(a, b, scale_a, scale_b):
    m, k = a.shape
    n = b.shape[1]
    out = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    if m * n == 0:
        return out
    grid = (triton.cdiv(m, 64) * triton.cdiv(n, 32),)
    fp8_kernel[grid](a, b, scale_a, scale_b, out, m, n, k,
                     a.stride(0), a.stride(1), b.stride(0), b.stride(1), BM=64, BN=32, BK=64)
    return out
