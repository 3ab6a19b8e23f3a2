import torch
import triton
import triton.language as tl


@triton.jit
def relu_tile(x_ptr, y_ptr, M, N, stride_m, stride_n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (m[:, None] < M) & (n[None, :] < N)
    offsets = m[:, None] * stride_m + n[None, :] * stride_n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(y_ptr + offsets, tl.maximum(x, 0.0), mask=mask)


def relu2d(x):
    M, N = x.shape
    y = torch.empty_like(x)
    relu_tile[(triton.cdiv(M, 32), triton.cdiv(N, 128))](x, y, M, N, x.stride(0), x.stride(1), BLOCK_M=32, BLOCK_N=128)
    return y
