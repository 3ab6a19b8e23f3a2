"""Rows and columns are wrapped with %, which the masked store makes harmless; k is masked."""

import torch
import triton
import triton.language as tl


@triton.jit
def dot_tile_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    rows, cols = offs % M, offs % N
    a = tl.load(a_ptr + rows[:, None] * K + offs[None, :], mask=offs[None, :] < K, other=0.0)
    b = tl.load(b_ptr + offs[:, None] * N + cols[None, :], mask=offs[:, None] < K, other=0.0)
    c = tl.dot(a, b, input_precision="ieee").to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + offs[:, None] * N + offs[None, :], c, mask=(offs[:, None] < M) & (offs < N))


def dot_tile(a, b):
    c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    if c.numel():
        dot_tile_kernel[(1,)](a, b, c, *c.shape, a.shape[1], BLOCK=32)
    return c
