"""A helper loads a tile by strides, and an accumulator starts at zero."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile(base_ptr, n_down, n_across, stride_down, stride_across, BLOCK: tl.constexpr):
    down, across = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    mask = (down < n_down) & (across < n_across)
    return base_ptr + down * stride_down + across * stride_across, mask


@triton.jit
def dot_tile_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK: tl.constexpr
):
    a_ptrs, a_mask = tile(a_ptr, M, K, stride_am, stride_ak, BLOCK)
    b_ptrs, b_mask = tile(b_ptr, K, N, stride_bk, stride_bn, BLOCK)
    a = tl.load(a_ptrs, mask=a_mask, other=0.0)
    b = tl.load(b_ptrs, mask=b_mask, other=0.0)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    c_ptrs, c_mask = tile(c_ptr, M, N, N, 1, BLOCK)
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=c_mask)


def dot_tile(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    dot_tile_kernel[(1,)](a, b, c, m, n, k, *a.stride(), *b.stride(), BLOCK=32)
    return c
