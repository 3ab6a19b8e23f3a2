"""The kernel stores float32 in a zeroed buffer; torch converts the result."""

import torch
import triton
import triton.language as tl

BLOCK = 32


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, BLOCK: tl.constexpr):
    # Groups of columns: the order is a matter of taste, the result is not.
    pid = tl.program_id(0)
    tall = tl.cdiv(M, BLOCK)
    left = pid // (4 * tall) * 4
    width = min(tl.cdiv(N, BLOCK) - left, 4)
    m = (pid % (4 * tall) // width) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    n = (left + pid % (4 * tall) % width) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    k0 = 0
    while k0 < K:
        k = k0 + tl.arange(0, BLOCK).to(tl.int64)
        a = tl.load(a_ptr + m[:, None] * am + k[None, :] * ak, (m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * bk + n[None, :] * bn, (k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc += tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee")
        k0 += BLOCK
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, (m[:, None] < M) & (n[None, :] < N))


def grouped_matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    buffer = torch.zeros((M, N), dtype=torch.float32, device=a.device)
    matmul_kernel[(triton.cdiv(M, BLOCK) * triton.cdiv(N, BLOCK),)](a, b, buffer, M, N, K, *a.stride(), *b.stride(), BLOCK=BLOCK)
    return buffer.to(a.dtype)
