"""The tile is reshaped, where it must be transposed."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, y_ptr, M, N, sm, sn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    tile = tl.load(x_ptr + m[:, None] * sm + n[None, :] * sn, mask=(m[:, None] < M) & (n[None, :] < N))
    turned = tl.reshape(tile, (BLOCK_N, BLOCK_M))
    tl.store(y_ptr + n[:, None] * M + m[None, :], turned, mask=(n[:, None] < N) & (m[None, :] < M))


def transpose(x):
    M, N = x.shape
    y = torch.empty((N, M), dtype=x.dtype, device=x.device)
    transpose_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](x, y, M, N, *x.stride(), BLOCK_M=16, BLOCK_N=32)
    return y
