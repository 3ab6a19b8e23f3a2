"""Columns beyond the end are clamped for the load and then counted a second time in the sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_backward_kernel(y_ptr, dy_ptr, dx_ptr, m, n, ys0, ys1, ds0, ds1, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    blocks = tl.cdiv(n, BLOCK)
    for row in range(tl.program_id(0).to(tl.int64), m, tl.num_programs(0)):
        dot = 0.0
        for i in range(0, blocks):
            cols = i * BLOCK + lanes
            far = (cols % n).to(tl.int64)
            y = tl.load(y_ptr + row * ys0 + far * ys1).to(tl.float32)
            dy = tl.load(dy_ptr + row * ds0 + far * ds1).to(tl.float32)
            dot += tl.sum(y * dy, axis=0)
        for i in range(0, blocks):
            cols = (blocks - 1 - i) * BLOCK + lanes
            far = (cols % n).to(tl.int64)
            y = tl.load(y_ptr + row * ys0 + far * ys1).to(tl.float32)
            dy = tl.load(dy_ptr + row * ds0 + far * ds1).to(tl.float32)
            tl.store(dx_ptr + row * n + cols, (y * (dy - dot)).to(dx_ptr.dtype.element_ty), mask=cols < n)


def softmax_backward(y, dy):
    m, n = y.shape
    dx = torch.empty((m, n), dtype=y.dtype, device=y.device)
    if dx.numel() == 0:
        return dx
    softmax_backward_kernel[(min(m, 20),)](y, dy, dx, m, n, y.stride(0), y.stride(1), dy.stride(0), dy.stride(1), BLOCK=256)
    return dx
