"""Three joins double the axis behind the words; a permutation brings it before the columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def pairs(words, shift: tl.constexpr):
    return tl.join(words, words >> shift)


@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G, sam, sak,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        rw = k0 // 8 + tl.arange(0, BK // 8)
        rk = k0 + tl.arange(0, BK)
        # (BN, words): columns first, so that the joined axes come last
        words = tl.load(
            b_ptr + rw[None, :] * N + rn[:, None],
            mask=(rw[None, :] < K // 8) & (rn[:, None] < N), other=0,
        )  # fmt: skip
        # the last of the three axes is the fastest: it must count single nibbles
        halves = pairs(words, 16)
        quarters = pairs(halves, 8)
        nibbles = pairs(quarters, 4) & 0xF
        q = tl.trans(tl.reshape(nibbles, (BN, BK)))
        mask = (rk[:, None] < K) & (rn[None, :] < N)
        group = rk[:, None] // G
        s = tl.load(s_ptr + group * N + rn[None, :], mask=mask, other=0.0)
        z = tl.load(z_ptr + group * N + rn[None, :], mask=mask, other=0)
        a = tl.load(
            a_ptr + rm[:, None] * sam + rk[None, :] * sak,
            mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, ((q - z).to(a.dtype) * s), acc)
    tl.store(
        c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )  # fmt: skip


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 64))
    kernel[grid](
        a, packed_b, scales, zeros, c, M, N, K, K // scales.shape[0], a.stride(0), a.stride(1),
        BM=16, BN=64, BK=64,
    )  # fmt: skip
    return c
