import torch
import triton
import triton.language as tl


@triton.jit
def zero_kernel(sums_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(sums_ptr + offsets, tl.zeros((BLOCK,), tl.float32), mask=offsets < n_elements)


@triton.jit
def kernel(
    a_ptr, b_ptr, sums_ptr, M, N, K, sam, sak, sbk, sbn, splits,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(2) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(tl.program_id(0) * BLOCK_K, K, splits * BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
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
    if tl.program_id(0) * BLOCK_K < K:
        tl.atomic_add(sums_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask)


@triton.jit
def convert_kernel(sums_ptr, c_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sums = tl.load(sums_ptr + offsets, mask=offsets < n_elements, other=0.0)
    tl.store(c_ptr + offsets, sums.to(c_ptr.dtype.element_ty), mask=offsets < n_elements)


def split_k_matmul(a, b, splits):
    """Zeros, sums and conversion: a kernel each, and torch does nothing but allocate."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m == 0 or n == 0:
        return c
    sums = torch.empty((m, n), dtype=torch.float32, device=a.device)
    blocks = (triton.cdiv(m * n, 1024),)
    zero_kernel[blocks](sums, m * n, BLOCK=1024)
    kernel[(splits, triton.cdiv(n, 32), triton.cdiv(m, 64))](
        a, b, sums, m, n, k, *a.stride(), *b.stride(), splits, BLOCK_M=64, BLOCK_N=32, BLOCK_K=16
    )
    convert_kernel[blocks](sums, c, m * n, BLOCK=1024)
    return c
