"""Block sizes by the autotuner, the transposed product, b in half precision throughout."""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BM": 16, "BN": 32, "BK": 32}, num_warps=4),
    triton.Config({"BM": 32, "BN": 64, "BK": 64}, num_warps=4),
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G, sam, sak,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN, BM), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        mask = (rn[:, None] < N) & (rk[None, :] < K)
        word = tl.load(b_ptr + (rk // 8)[None, :] * N + rn[:, None], mask=mask, other=0)
        q = (word >> (rk % 8 * 4)[None, :]) & 0xF
        s = tl.load(s_ptr + (rk // G)[None, :] * N + rn[:, None], mask=mask, other=0.0)
        z = tl.load(z_ptr + (rk // G)[None, :] * N + rn[:, None], mask=mask, other=0)
        bt = (q - z.to(tl.int32)).to(s.dtype) * s
        at = tl.load(
            a_ptr + rm[None, :] * sam + rk[:, None] * sak,
            mask=(rm[None, :] < M) & (rk[:, None] < K), other=0.0,
        )  # fmt: skip
        acc = tl.dot(bt, at, acc)
    c = tl.trans(acc).to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], c, mask=(rm[:, None] < M) & (rn[None, :] < N))


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)

    def grid(meta):
        return (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]))

    kernel[grid](
        a, packed_b, scales, zeros, c, M, N, K, K // scales.shape[0], a.stride(0), a.stride(1)
    )
    return c
