"""The result lies in memory like a transposed x."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, n, stride_r, stride_c, out_r, out_c, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    carry = 0.0
    for start in range(0, n, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * stride_r + col * stride_c, mask=col < n, other=0.0).to(tl.float32)
        running = tl.associative_scan(x, 0, add) + carry
        tl.store(y_ptr + row * out_r + col * out_c, running.to(y_ptr.dtype.element_ty), mask=col < n)
        carry += tl.sum(x, axis=0)


def cumsum(x):
    m, n = x.shape
    y = torch.empty_like(x)
    if m > 0 and n > 0:
        cumsum_kernel[(m,)](x, y, n, x.stride(0), x.stride(1), y.stride(0), y.stride(1), BLOCK=min(256, triton.next_power_of_2(n)))
    return y
