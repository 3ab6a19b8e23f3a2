"""Programs share k: each stores its part in float32, and a second kernel adds and scales them."""

import torch
import triton
import triton.language as tl


@triton.jit
def parts_kernel(
    a_ptr, b_ptr, parts_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK: tl.constexpr, BLOCK_K: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offs_n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    part = tl.program_id(2)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(part * BLOCK_K, K, PARTS * BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak,
            mask=(offs_m < M)[:, None] & (offs_k < K)[None, :], other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn,
            mask=(offs_k < K)[:, None] & (offs_n < N)[None, :], other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc)
    at = part * M * N + offs_m[:, None] * N + offs_n[None, :]
    tl.store(parts_ptr + at, acc, mask=(offs_m < M)[:, None] & (offs_n < N)[None, :])


@triton.jit
def sum_kernel(
    parts_ptr, sa_ptr, sb_ptr, c_ptr, N, n_elements, PARTS: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    total = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for part in range(PARTS):
        total += tl.load(parts_ptr + part * n_elements + offsets, mask=mask, other=0.0)
    scale = tl.load(sa_ptr + offsets // N, mask=mask) * tl.load(sb_ptr + offsets % N, mask=mask)
    tl.store(c_ptr + offsets, total * scale, mask=mask)


def fp8_matmul(a, b, scale_a, scale_b):
    (M, K), N = a.shape, b.shape[1]
    parts = torch.empty((4, M, N), dtype=torch.float32, device=a.device)
    c = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    parts_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32), 4)](
        a, b, parts, M, N, K, *a.stride(), *b.stride(), BLOCK=32, BLOCK_K=32, PARTS=4
    )
    sum_kernel[(triton.cdiv(M * N, 256),)](
        parts, scale_a, scale_b, c, N, M * N, PARTS=4, BLOCK_SIZE=256
    )
    return c
