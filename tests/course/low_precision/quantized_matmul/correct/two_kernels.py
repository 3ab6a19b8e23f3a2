"""The first kernel writes b in the dtype of a, the second one multiplies."""

import torch
import triton
import triton.language as tl


@triton.jit
def unpack_kernel(b_ptr, s_ptr, z_ptr, out_ptr, N, G, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    k, n = offsets // N, offsets % N
    word = tl.load(b_ptr + k // 8 * N + n, mask=mask, other=0)
    scale = tl.load(s_ptr + k // G * N + n, mask=mask, other=0.0)
    zero = tl.load(z_ptr + k // G * N + n, mask=mask, other=0)
    value = (((word >> (k % 8 * 4)) & 15) - zero).to(tl.float32) * scale.to(tl.float32)
    tl.store(out_ptr + offsets, value.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rm[:, None] * sam + rk[None, :] * sak,
            mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + rk[:, None] * N + rn[None, :],
            mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc)
    tl.store(
        c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )  # fmt: skip


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    b = torch.empty((K, N), dtype=a.dtype, device=a.device)
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    n_elements = K * N
    unpack_kernel[(triton.cdiv(n_elements, 1024),)](
        packed_b, scales, zeros, b, N, K // scales.shape[0], n_elements, BLOCK=1024
    )
    matmul_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, b, c, M, N, K, a.stride(0), a.stride(1), BM=32, BN=32, BK=32
    )
    return c
