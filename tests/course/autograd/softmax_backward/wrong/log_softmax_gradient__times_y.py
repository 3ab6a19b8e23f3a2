"""y times the gradient of log-softmax."""

import torch
import triton
import triton.language as tl



@triton.jit
def softmax_backward_kernel(y_ptr, dy_ptr, dx_ptr, n, y_m, y_n, dy_m, dy_n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    y_row = y_ptr + row * y_m
    dy_row = dy_ptr + row * dy_m
    dx_row = dx_ptr + row * n

    s = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = (start + tl.arange(0, BLOCK)).to(tl.int64)
        mask = cols < n
        y = tl.load(y_row + cols * y_n, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_row + cols * dy_n, mask=mask, other=0.0).to(tl.float32)
        s += dy
    dot = tl.sum(s, axis=0)

    for start in range(0, n, BLOCK):
        cols = (start + tl.arange(0, BLOCK)).to(tl.int64)
        mask = cols < n
        y = tl.load(y_row + cols * y_n, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_row + cols * dy_n, mask=mask, other=0.0).to(tl.float32)
        tl.store(dx_row + cols, (y * (dy - dot * y)).to(dx_ptr.dtype.element_ty), mask=mask)


def softmax_backward(y, dy):
    m, n = y.shape
    dx = torch.empty((m, n), device=y.device, dtype=y.dtype)
    if m == 0 or n == 0:
        return dx
    softmax_backward_kernel[(m,)](y, dy, dx, n, y.stride(0), y.stride(1), dy.stride(0), dy.stride(1), BLOCK=1024)
    return dx
