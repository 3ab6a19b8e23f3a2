import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, sums_ptr, N, K, sam, sak, sbk, sbn, splits,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """One row of the result, multiplied and added by hand."""
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    offs_n = tl.program_id(2) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for start in range(part * BLOCK_K, K, splits * BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + row * sam + offs_k * sak, mask=offs_k < K, other=0.0).to(tl.float32)
        mask = (offs_k[:, None] < K) & (offs_n[None, :] < N)
        b = tl.load(b_ptr + offs_k[:, None] * sbk + offs_n[None, :] * sbn, mask=mask, other=0.0)
        acc += tl.sum(a[:, None] * b.to(tl.float32), axis=0)
    tl.atomic_add(sums_ptr + row * N + offs_n, acc, mask=offs_n < N)


def split_k_matmul(a, b, splits):
    (m, k), n = a.shape, b.shape[1]
    sums = torch.zeros((m, n), dtype=torch.float32, device=a.device)
    if m and n:
        kernel[(m, splits, triton.cdiv(n, 64))](
            a, b, sums, n, k, *a.stride(), *b.stride(), splits, BLOCK_N=64, BLOCK_K=32
        )
    return sums.to(a.dtype)
