import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, sums_ptr, M, N, K, sam, sak, sbk, sbn, splits,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """float32 by tf32x3: three products on tensor cores that make up for what TF32 leaves out."""
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(tl.program_id(2) * BLOCK_K, K, splits * BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m[:, None] * sam + offs_k[None, :] * sak,
            mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * sbk + offs_n[None, :] * sbn,
            mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc, input_precision="tf32x3")
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.atomic_add(sums_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask)


def split_k_matmul(a, b, splits):
    (m, k), n = a.shape, b.shape[1]
    sums = a.new_zeros((m, n), dtype=torch.float32)
    if m and n:
        kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32), splits)](
            a, b, sums, m, n, k, *a.stride(), *b.stride(), splits,
            BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
        )  # fmt: skip
    return sums.to(a.dtype)
