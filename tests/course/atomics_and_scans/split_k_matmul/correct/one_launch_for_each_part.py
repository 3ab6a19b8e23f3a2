import torch
import triton
import triton.language as tl


@triton.jit
def add_part_kernel(
    a_ptr, b_ptr, sums_ptr, M, N, first, last, sam, sak, sbk, sbn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Launches come one after the other, so a load and a store lose nothing."""
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    places = sums_ptr + offs_m[:, None] * N + offs_n[None, :]
    acc = tl.load(places, mask=mask, other=0.0)
    for start in range(first, last, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m[:, None] * sam + offs_k[None, :] * sak,
            mask=(offs_m[:, None] < M) & (offs_k[None, :] < last), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * sbk + offs_n[None, :] * sbn,
            mask=(offs_k[:, None] < last) & (offs_n[None, :] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(places, acc, mask=mask)


def split_k_matmul(a, b, splits):
    (m, k), n = a.shape, b.shape[1]
    sums = torch.zeros((m, n), dtype=torch.float32, device=a.device)
    share = triton.cdiv(k, splits)
    for part in range(splits):
        first, last = min(k, part * share), min(k, (part + 1) * share)
        if m and n:
            add_part_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
                a, b, sums, m, n, first, last, *a.stride(), *b.stride(),
                BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
            )  # fmt: skip
    return sums.to(a.dtype)
