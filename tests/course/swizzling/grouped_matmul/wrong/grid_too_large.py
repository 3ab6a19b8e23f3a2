"""Twice as many programs as tiles."""

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    """Compute one BLOCK_M x BLOCK_N tile of c = a @ b, the tiles taken in groups of rows.

    a has shape (M, K), b (K, N), c (M, N). Strides are counted in elements. The grid has one
    dimension: which tile a program takes is worked out from its id.
    """
    # 1. The row and the column of my tile, grouped as in swizzle_ids.
    # 2. From there on it is the matmul that you know: offsets, accumulator, loop, store.
    pid = tl.program_id(axis=0)
    tiles_per_group = GROUP * tl.cdiv(N, BLOCK_N)
    first_row = pid // tiles_per_group * GROUP
    rows_in_group = tl.minimum(tl.cdiv(M, BLOCK_M) - first_row, GROUP)
    pid_in_group = pid % tiles_per_group
    pid_m = first_row + pid_in_group % rows_in_group
    pid_n = pid_in_group // rows_in_group

    # In 64 bits, because an address can lie more than 2**31 elements away.
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m[:, None] < M
    mask_n = offs_n[None, :] < N
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_start in range(0, K, BLOCK_K):
        offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
        b = tl.load(b_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=mask_m & mask_n)


def grouped_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b, computed in an order that reuses what the cache holds.

    a: (m, k), b: (k, n), any strides, of the same dtype (float32, float16 or bfloat16).
    The result is a new contiguous tensor of shape (m, n) with the dtype of a. It is summed
    in float32, and exact to float32 for float32 inputs (no TF32).
    """
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    block_m, block_n, block_k = 64, 64, 32
    grid = (2 * triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
    grouped_matmul_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        *c.stride(),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
        GROUP=8,
    )
    return c
