"""The accumulator has the dtype of a."""

import torch
import triton
import triton.language as tl


@triton.jit
def split_k_matmul_kernel(
    a_ptr, b_ptr, sums_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, splits,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(axis=0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(axis=1) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(axis=2)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=a_ptr.dtype.element_ty)
    for k_start in range(part * BLOCK_K, K, splits * BLOCK_K):
        offs_k = k_start + tl.arange(0, BLOCK_K)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
        product = tl.dot(a, b, input_precision="ieee")
        accumulator = (accumulator + product).to(a_ptr.dtype.element_ty)
    sums_ptrs = sums_ptr + offs_m[:, None] * N + offs_n[None, :]
    tl.atomic_add(sums_ptrs, accumulator.to(tl.float32), mask=mask)


def split_k_matmul(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    sums = torch.zeros((m, n), dtype=torch.float32, device=a.device)
    if m and n:
        split_k_matmul_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32), splits)](
            a, b, sums, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), splits,
            BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
        )  # fmt: skip
    return sums.to(a.dtype)
