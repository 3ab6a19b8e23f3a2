import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, sums_ptr, M, N, K, sam, sak, sbk, sbn, splits,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    part, tile = pid % splits, pid // splits
    tiles_n = tl.cdiv(N, BLOCK_N)
    offs_m = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    blocks = tl.cdiv(K, BLOCK_K)
    share = tl.cdiv(blocks, splits)
    first = part * share
    last = tl.minimum(blocks, first + share)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    # Rows and columns beyond the matrices wrap round: what they give is not stored.
    rows, cols = offs_m % M, offs_n % N
    for block in range(first, last):
        offs_k = block * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * sam + offs_k[None, :] * sak, mask=offs_k[None, :] < K, other=0)
        b = tl.load(b_ptr + offs_k[:, None] * sbk + cols[None, :] * sbn, mask=offs_k[:, None] < K, other=0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.atomic_add(sums_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask, sem="relaxed")


def split_k_matmul(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    m, k = a.shape
    _, n = b.shape
    sums = torch.zeros(m, n, dtype=torch.float32, device=a.device)
    if m == 0 or n == 0 or k == 0:
        return sums.to(a.dtype)
    grid = (triton.cdiv(m, 16) * triton.cdiv(n, 64) * splits,)
    kernel[grid](
        a, b, sums, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), splits,
        BLOCK_M=16, BLOCK_N=64, BLOCK_K=32,
    )  # fmt: skip
    return sums if a.dtype == torch.float32 else sums.to(a.dtype)
