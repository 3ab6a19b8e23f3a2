import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, SPLITS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.program_id(2) * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * sam + offs_k[None, :] * sak
    b_ptrs = b_ptr + offs_k[:, None] * sbk + offs_n[None, :] * sbn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLITS)):
        left = K - k * BLOCK_K * SPLITS
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        a_ptrs += BLOCK_K * SPLITS * sak
        b_ptrs += BLOCK_K * SPLITS * sbk
    c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
    tl.atomic_add(c_ptrs, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def split_k_matmul(a, b, splits):
    (m, k), n = a.shape, b.shape[1]
    c = torch.zeros((m, n), dtype=torch.float32, device=a.device)
    if m * n:
        kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32), splits)](
            a, b, c, m, n, k, *a.stride(), *b.stride(),
            SPLITS=splits, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
        )  # fmt: skip
    return c.to(a.dtype)
