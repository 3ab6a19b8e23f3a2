"""The tiles are multiplied element by element."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
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
):
    """Compute one BLOCK_M x BLOCK_N tile of c = a @ b.

    a has shape (M, K), b (K, N), c (M, N). Strides are counted in elements.
    The products are summed in float32, whatever the dtype of a and b.
    """
    # 1. Which tile of c is mine: the row numbers and the column numbers it covers.
    # 2. A float32 accumulator full of zeros.
    # 3. Step through K in blocks: load a tile of a and a tile of b, zeros outside the
    #    matrices on *every* edge, and add their product to the accumulator.
    #    float32 inputs need input_precision="ieee".
    # 4. Store the accumulator in the dtype of c, under a mask.
    # In 64 bits, because an address can lie more than 2**31 elements away.
    offs_m = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(axis=1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m[:, None] < M
    mask_n = offs_n[None, :] < N
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_start in range(0, K, BLOCK_K):
        offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
        b = tl.load(b_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
        accumulator += a * b
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=mask_m & mask_n)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b.

    a: (m, k), b: (k, n), any strides, of the same dtype (float32, float16 or bfloat16).
    The result is a new contiguous tensor of shape (m, n) with the dtype of a. It is summed
    in float32, and exact to float32 for float32 inputs (no TF32).
    """
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    block_m, block_n, block_k = 32, 32, 32
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    matmul_kernel[grid](
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
    )
    return c
