"""The highest nibble of a word is shifted down with its sign, and not cut out."""

import torch
import triton
import triton.language as tl


@triton.jit
def q4_matmul(a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G, sam, sak, sbk, sbn, ssg, ssn, szg, szn,
              BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    n = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        k64 = k.to(tl.int64)
        a = tl.load(a_ptr + m[:, None] * sam + k64[None, :] * sak,
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        ok = (k[:, None] < K) & (n[None, :] < N)
        word = tl.load(b_ptr + (k64 // 8)[:, None] * sbk + n[None, :] * sbn, mask=ok, other=0)
        shift = (k % 8) * 4
        # the top nibble needs no mask: nothing lies above it
        q = tl.where((k % 8 == 7)[:, None], word >> 28, (word >> shift[:, None]) & 0xF)
        grp = (k64 // G)[:, None]
        scale = tl.load(s_ptr + grp * ssg + n[None, :] * ssn, mask=ok, other=0.0)
        zero = tl.load(z_ptr + grp * szg + n[None, :] * szn, mask=ok, other=0)
        b = (q - zero.to(tl.int32)).to(tl.float32) * scale.to(tl.float32)
        acc = tl.dot(a, b.to(a.dtype), acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    if c.numel() == 0:
        return c
    if K == 0:
        return c.zero_()
    G = K // scales.shape[0]
    q4_matmul[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, packed_b, scales, zeros, c, M, N, K, G, *a.stride(), *packed_b.stride(),
        *scales.stride(), *zeros.stride(), BM=32, BN=32, BK=32)
    return c
