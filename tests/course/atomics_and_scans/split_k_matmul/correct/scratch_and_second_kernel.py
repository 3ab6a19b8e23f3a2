import torch
import triton
import triton.language as tl


@triton.jit
def part_kernel(
    a_ptr, b_ptr, parts_ptr, M, N, K, sam, sak, sbk, sbn, length,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Each part has a plane of its own; the sums are always added in the same order."""
    offs_m = (tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    offs_n = (tl.program_id(2) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    part = tl.program_id(0)
    end = tl.minimum(K, (part + 1) * length)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(part * length, end, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m[:, None] * sam + offs_k[None, :] * sak,
            mask=(offs_m[:, None] < M) & (offs_k[None, :] < end), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * sbk + offs_n[None, :] * sbn,
            mask=(offs_k[:, None] < end) & (offs_n[None, :] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc, input_precision="ieee")
    places = part.to(tl.int64) * M * N + offs_m[:, None] * N + offs_n[None, :]
    tl.store(parts_ptr + places, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@triton.jit
def sum_kernel(parts_ptr, c_ptr, n_elements, splits, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in range(splits):
        total += tl.load(parts_ptr + part * n_elements + offsets, mask=mask, other=0.0)
    tl.store(c_ptr + offsets, total.to(c_ptr.dtype.element_ty), mask=mask)


def split_k_matmul(a, b, splits):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if not c.numel():
        return c
    parts = torch.empty((splits, m, n), dtype=torch.float32, device=a.device)
    part_kernel[(splits, triton.cdiv(m, 64), triton.cdiv(n, 32))](
        a, b, parts, m, n, k, *a.stride(), *b.stride(), triton.cdiv(k, splits),
        BLOCK_M=64, BLOCK_N=32, BLOCK_K=16,
    )  # fmt: skip
    sum_kernel[(triton.cdiv(m * n, 256),)](parts, c, m * n, splits, BLOCK=256)
    return c
