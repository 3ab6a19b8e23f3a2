import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, sums_ptr, M, N, K, sam, sak, sbk, sbn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """The parts are counted by the grid."""
    part, parts = tl.program_id(0), tl.num_programs(0)
    offs_m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(2) * BLOCK_N + tl.arange(0, BLOCK_N)
    blocks = tl.cdiv(K, BLOCK_K)
    # The first blocks % parts parts have one block more than the others.
    first = part * (blocks // parts) + tl.minimum(part, blocks % parts)
    count = blocks // parts + (part < blocks % parts).to(tl.int32)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for block in range(first, first + count):
        offs_k = block * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m[:, None] * sam + offs_k[None, :] * sak,
            mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * sbk + offs_n[None, :] * sbn,
            mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc, input_precision="ieee")
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.atomic_add(sums_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask)


def split_k_matmul(a, b, splits):
    (m, k), n = a.shape, b.shape[1]
    sums = torch.zeros((m, n), dtype=torch.float32, device=a.device)
    parts = min(splits, triton.cdiv(k, 16))
    if m and n and parts:
        kernel[(parts, triton.cdiv(m, 32), triton.cdiv(n, 32))](
            a, b, sums, m, n, k, *a.stride(), *b.stride(), BLOCK_M=32, BLOCK_N=32, BLOCK_K=16
        )
    return sums.to(a.dtype)
