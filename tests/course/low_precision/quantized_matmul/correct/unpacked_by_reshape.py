"""Words are loaded once; the nibbles get an axis behind that of the words, then a reshape."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G, sam, sak,
    BM: tl.constexpr, BN: tl.constexpr, WORDS: tl.constexpr,
):  # fmt: skip
    BK: tl.constexpr = WORDS * 8
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    shifts = 4 * tl.arange(0, 8)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for w0 in range(0, K // 8, WORDS):
        rw = w0 + tl.arange(0, WORDS)
        words = tl.load(
            b_ptr + rw[:, None] * N + rn[None, :],
            mask=(rw[:, None] < K // 8) & (rn[None, :] < N), other=0,
        )  # fmt: skip
        nibbles = (words[:, None, :] >> shifts[None, :, None]) & 0xF
        q = tl.reshape(nibbles, (BK, BN))
        rk = w0 * 8 + tl.arange(0, BK)
        mask = (rk[:, None] < K) & (rn[None, :] < N)
        rows = (rk // G)[:, None] * N + rn[None, :]
        s = tl.load(s_ptr + rows, mask=mask, other=0.0).to(tl.float32)
        z = tl.load(z_ptr + rows, mask=mask, other=0).to(tl.float32)
        a = tl.load(
            a_ptr + rm[:, None] * sam + rk[None, :] * sak,
            mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, ((q.to(tl.float32) - z) * s).to(a.dtype), acc)
    tl.store(
        c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )  # fmt: skip


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    kernel[grid](
        a, packed_b, scales, zeros, c, M, N, K, K // scales.shape[0], a.stride(0), a.stride(1),
        BM=32, BN=32, WORDS=4,
    )  # fmt: skip
    return c
