"""The launcher makes dense copies, of b its transpose; the kernel knows no strides."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, bt_ptr, sa_ptr, sb_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    down = tl.cdiv(M, BLOCK_M)
    m = pid % down * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid // down * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * K + k[None, :]
    bt_ptrs = bt_ptr + n[:, None] * K + k[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for rest in range(K, 0, -BLOCK_K):
        a = tl.load(a_ptrs, mask=(m[:, None] < M) & (k[None, :] < rest), other=0.0)
        bt = tl.load(bt_ptrs, mask=(n[:, None] < N) & (k[None, :] < rest), other=0.0)
        acc = tl.dot(a, bt.T, acc)
        a_ptrs += BLOCK_K
        bt_ptrs += BLOCK_K
    acc *= tl.load(sa_ptr + m, mask=m < M, other=0.0)[:, None]
    acc *= tl.load(sb_ptr + n, mask=n < N, other=0.0)[None, :]
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask)


def fp8_matmul(a, b, scale_a, scale_b):
    M, K = a.shape
    N = b.shape[1]
    a, bt = a.contiguous(), b.t().contiguous()
    c = torch.empty((M, N), device=a.device, dtype=torch.bfloat16)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)  # noqa: E731
    kernel[grid](a, bt, scale_a, scale_b, c, M, N, K, BLOCK_M=64, BLOCK_N=32, BLOCK_K=64)
    return c
