"""Tiles become bfloat16, which holds e4m3, too; a launcher with checks and an early return."""

import torch
import triton
import triton.language as tl

BLOCK_M, BLOCK_N, BLOCK_K = 32, 128, 32


@triton.jit
def fp8_matmul_kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Tile (program 1, program 0) of c."""
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    mask_m, mask_n = offs_m[:, None] < M, offs_n[None, :] < N
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in tl.range(0, K, BLOCK_K, num_stages=2):
        offs_k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak,
            mask=mask_m & (offs_k[None, :] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn,
            mask=(offs_k[:, None] < K) & mask_n, other=0.0,
        )  # fmt: skip
        acc += tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16), out_dtype=tl.float32)
    scale_a = tl.load(scale_a_ptr + offs_m[:, None], mask=mask_m, other=0.0)
    scale_b = tl.load(scale_b_ptr + offs_n[None, :], mask=mask_n, other=0.0)
    tl.store(
        c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn,
        (acc * (scale_a * scale_b)).to(tl.bfloat16), mask=mask_m & mask_n,
    )  # fmt: skip


def fp8_matmul(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor
) -> torch.Tensor:
    """Scaled product of two e4m3 matrices, in bfloat16."""
    assert a.dtype == torch.float8_e4m3fn, f"a is {a.dtype}"
    assert b.dtype == torch.float8_e4m3fn
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"shapes {a.shape} and {b.shape} do not fit")
    M, K = a.shape
    N = b.shape[1]
    assert scale_a.shape == (M,)
    assert scale_b.shape == (N,)
    c = torch.zeros((M, N), device=a.device, dtype=torch.bfloat16)
    if M == 0 or N == 0 or K == 0:
        return c
    grid = (triton.cdiv(N, BLOCK_N), triton.cdiv(M, BLOCK_M))
    fp8_matmul_kernel[grid](
        a, b, scale_a, scale_b, c, M, N, K,
        a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K, num_warps=4,
    )  # fmt: skip
    return c
