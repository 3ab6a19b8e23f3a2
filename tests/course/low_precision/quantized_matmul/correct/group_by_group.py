"""The outer loop goes by groups: whole numbers are multiplied, the scale comes once a group."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, n_groups, G, sam, sak,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    rn = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for g in range(n_groups):
        scale = tl.load(s_ptr + g * N + rn, mask=rn < N, other=0.0).to(tl.float32)
        zero = tl.load(z_ptr + g * N + rn, mask=rn < N, other=0).to(tl.int32)
        part = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, G, BK):
            inside = start + tl.arange(0, BK)
            rk = g * G + inside
            a = tl.load(
                a_ptr + rm[:, None] * sam + rk[None, :] * sak,
                mask=(rm[:, None] < M) & (inside[None, :] < G), other=0.0,
            )  # fmt: skip
            word = tl.load(
                b_ptr + rk[:, None] // 8 * N + rn[None, :],
                mask=(inside[:, None] < G) & (rn[None, :] < N), other=0,
            )  # fmt: skip
            q = (word >> (rk[:, None] % 8 * 4)) & 0xF
            part = tl.dot(a, (q - zero[None, :]).to(a.dtype), part)
        total += part * scale[None, :]
    tl.store(
        c_ptr + rm[:, None] * N + rn[None, :], total.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )  # fmt: skip


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    n_groups = scales.shape[0]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, packed_b, scales, zeros, c, M, N, n_groups, K // max(n_groups, 1),
        a.stride(0), a.stride(1), BM=32, BN=32, BK=16,
    )  # fmt: skip
    return c
