"""Stores with the strides of x, although the output is dense."""

import torch
import triton
import triton.language as tl

@triton.jit
def copy_tile(x_ptr, y_ptr, M, N, stride_m, stride_n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    offsets = offs_m[:, None] * stride_m + offs_n[None, :] * stride_n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def strided_copy(x):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    copy_tile[(triton.cdiv(m, 16), triton.cdiv(n, 16))](x, y, m, n, *x.stride(), BLOCK_M=16, BLOCK_N=16)
    return y
