"""Beyond k only the packed words are masked: a wraps by modulo and (0 - zero) * scale is not 0,
so the tail of k is summed in.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def nibble(words, ks):
    return (words >> ((ks % 8) * 4)[:, None]) & 15


@triton.jit
def qmm_kernel(a_ptr, w_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G, n_tiles, tiles_n,
               sam, sak, swk, swn, ssk, ssn, szk, szn,
               BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        rows = ((tile // tiles_n) * BM + tl.arange(0, BM)).to(tl.int64)
        cols = ((tile % tiles_n) * BN + tl.arange(0, BN)).to(tl.int64)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k0 in range(0, K, BK):
            ks = k0 + tl.arange(0, BK)
            a_mask = (rows[:, None] < M) & (ks[None, :] >= 0)
            b_mask = (ks[:, None] < K) & (cols[None, :] < N)
            k64 = (ks % K).to(tl.int64)
            a = tl.load(a_ptr + rows[:, None] * sam + k64[None, :] * sak, mask=a_mask, other=0.0)
            words = tl.load(w_ptr + (k64 // 8)[:, None] * swk + cols[None, :] * swn, mask=b_mask, other=0)
            group = k64 // G
            s = tl.load(s_ptr + group[:, None] * ssk + cols[None, :] * ssn, mask=cols[None, :] < N, other=0.0)
            z = tl.load(z_ptr + group[:, None] * szk + cols[None, :] * szn, mask=cols[None, :] < N, other=0)
            q = nibble(words, ks) - z.to(tl.int32)
            b = (q.to(tl.float32) * s.to(tl.float32)).to(a.dtype)
            acc = tl.dot(a, b, acc)
        out_mask = (rows[:, None] < M) & (cols[None, :] < N)
        tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(c_ptr.dtype.element_ty), mask=out_mask)


def quantized_matmul(a, packed_b, scales, zeros):
    m, k = a.shape
    n = packed_b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m == 0 or n == 0:
        return c
    g = k // scales.shape[0] if scales.shape[0] > 0 else 16
    tiles_m, tiles_n = triton.cdiv(m, 32), triton.cdiv(n, 32)
    grid = (min(tiles_m * tiles_n, 4),)
    qmm_kernel[grid](a, packed_b, scales, zeros, c, m, n, k, g, tiles_m * tiles_n, tiles_n,
                     a.stride(0), a.stride(1), packed_b.stride(0), packed_b.stride(1),
                     scales.stride(0), scales.stride(1), zeros.stride(0), zeros.stride(1),
                     BM=32, BN=32, BK=64)
    return c
