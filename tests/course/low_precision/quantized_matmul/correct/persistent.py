"""Eight programs take tile after tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G, a_strides,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    across = tl.cdiv(N, BLOCK_N)
    n_tiles = tl.cdiv(M, BLOCK_M) * across
    for tile in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        offs_m = tile // across * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = tile % across * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in tl.range(0, K, BLOCK_K):
            offs_k = k + tl.arange(0, BLOCK_K)
            b_mask = (offs_k[:, None] < K) & (offs_n[None, :] < N)
            a = tl.load(
                a_ptr + offs_m[:, None] * a_strides[0] + offs_k[None, :] * a_strides[1],
                mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0,
            )  # fmt: skip
            w = tl.load(b_ptr + offs_k[:, None] // 8 * N + offs_n[None, :], mask=b_mask, other=0)
            q = ((w >> (4 * (offs_k[:, None] & 7))) & 0xF).to(tl.float32)
            place = offs_k[:, None] // G * N + offs_n[None, :]
            s = tl.load(s_ptr + place, mask=b_mask, other=0.0).to(tl.float32)
            z = tl.load(z_ptr + place, mask=b_mask, other=0).to(tl.float32)
            acc = tl.dot(a, ((q - z) * s).to(a.dtype), acc)
        tl.store(
            c_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(c_ptr.dtype.element_ty),
            mask=(offs_m[:, None] < M) & (offs_n[None, :] < N),
        )  # fmt: skip


def quantized_matmul(a, packed_b, scales, zeros):
    (m, k), n = a.shape, packed_b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    tiles = triton.cdiv(m, 32) * triton.cdiv(n, 32)
    kernel[(min(8, tiles),)](
        a, packed_b, scales, zeros, c, m, n, k, k // scales.shape[0], a.stride(),
        BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
    )  # fmt: skip
    return c
