import torch
import triton
import triton.language as tl


@triton.jit
def part_kernel(
    a_ptr, b_ptr, parts_ptr, M, N, K, sam, sak, sbk, sbn,
    BLOCK: tl.constexpr, BLOCK_K: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    """The parts of one element are neighbours in scratch memory."""
    offs_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offs_n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    part = tl.program_id(2)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for step in range(tl.cdiv(tl.cdiv(K, BLOCK_K), SPLITS)):
        offs_k = (step * SPLITS + part) * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m[:, None] * sam + offs_k[None, :] * sak,
            mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * sbk + offs_n[None, :] * sbn,
            mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0,
        )  # fmt: skip
        acc += tl.dot(a, b, input_precision="ieee")
    places = (offs_m[:, None] * N + offs_n[None, :]) * SPLITS + part
    tl.store(parts_ptr + places, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@triton.jit
def reduce_kernel(
    parts_ptr, c_ptr, n_elements, splits, BLOCK: tl.constexpr, PARTS: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lanes = tl.arange(0, PARTS)
    mask = (offsets[:, None] < n_elements) & (lanes[None, :] < splits)
    found = tl.load(parts_ptr + offsets[:, None] * splits + lanes[None, :], mask=mask, other=0.0)
    c = tl.sum(found, axis=1)
    tl.store(c_ptr + offsets, c.to(c_ptr.dtype.element_ty), mask=offsets < n_elements)


def split_k_matmul(a, b, splits):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if c.numel() == 0:
        return c
    parts = torch.empty((m, n, splits), dtype=torch.float32, device=a.device)
    part_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32), splits)](
        a, b, parts, m, n, k, *a.stride(), *b.stride(), BLOCK=32, BLOCK_K=32, SPLITS=splits
    )
    reduce_kernel[(triton.cdiv(m * n, 64),)](
        parts, c, m * n, splits, BLOCK=64, PARTS=triton.next_power_of_2(splits)
    )
    return c
