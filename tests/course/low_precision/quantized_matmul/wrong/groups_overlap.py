"""A group is walked through in a block of the next power of two."""

import torch
import triton
import triton.language as tl



@triton.jit
def dequantized_tile(b_ptr, s_ptr, z_ptr, group, k_in_group, offs_n, G, N, sbk, sbn, ssg, ssn, szg, szn):
    k = group * G + k_in_group
    mask_n = (offs_n < N)[None, :]
    cols = offs_n.to(tl.int64)[None, :]
    word = tl.load(b_ptr + (k // 8).to(tl.int64)[:, None] * sbk + cols * sbn, mask=mask_n, other=0)
    q = (word >> (k % 8 * 4)[:, None]) & 0xF
    scale = tl.load(s_ptr + group * ssg + offs_n.to(tl.int64) * ssn, mask=offs_n < N, other=0.0)
    zero = tl.load(z_ptr + group * szg + offs_n.to(tl.int64) * szn, mask=offs_n < N, other=0).to(tl.int32)
    return ((q - zero[None, :]).to(tl.float32) * scale[None, :].to(tl.float32)).to(scale.dtype)


@triton.jit
def w4a16_kernel(a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, G, GROUPS,
                 sam, sak, sbk, sbn, ssg, ssn, szg, szn,
                 BM: tl.constexpr, BN: tl.constexpr, BG: tl.constexpr):
    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)
    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for group in range(0, GROUPS):
        # a whole group at once: one scale and one zero for each column
        r = tl.arange(0, BG)
        k = group * G + r
        a = tl.load(a_ptr + offs_m.to(tl.int64)[:, None] * sam + k.to(tl.int64)[None, :] * sak,
                    mask=(offs_m < M)[:, None] & (k < GROUPS * G)[None, :], other=0.0)
        safe = tl.where(k < GROUPS * G, r, 0)
        b = dequantized_tile(b_ptr, s_ptr, z_ptr, group, safe, offs_n, G, N, sbk, sbn, ssg, ssn, szg, szn)
        acc += tl.dot(a, b)
    tl.store(c_ptr + offs_m.to(tl.int64)[:, None] * N + offs_n[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(offs_m < M)[:, None] & (offs_n < N)[None, :])


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    groups = scales.shape[0]
    G = K // groups
    c = torch.zeros((M, N), dtype=a.dtype, device=a.device)
    if c.numel() == 0:
        return c
    BM, BN = 16, 32
    w4a16_kernel[(triton.cdiv(M, BM), triton.cdiv(N, BN))](
        a, packed_b, scales, zeros, c, M, N, G, groups,
        *a.stride(), *packed_b.stride(), *scales.stride(), *zeros.stride(),
        BM=BM, BN=BN, BG=triton.next_power_of_2(G))
    return c
