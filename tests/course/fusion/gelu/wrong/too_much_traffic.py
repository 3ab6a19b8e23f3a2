"""Two kernels, and the argument of the sigmoid stored between them."""

import torch
import triton
import triton.language as tl


@triton.jit
def inner(x_ptr, z_ptr, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + o, mask=o < n, other=0.0).to(tl.float32)
    tl.store(z_ptr + o, 0.7978845608028654 * (x + 0.044715 * x * x * x), mask=o < n)


@triton.jit
def outer(x_ptr, z_ptr, y_ptr, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + o, mask=o < n, other=0.0).to(tl.float32)
    z = tl.load(z_ptr + o, mask=o < n, other=0.0)
    tl.store(y_ptr + o, x * tl.sigmoid(2 * z), mask=o < n)


def gelu(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    z = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    n = x.numel()
    inner[(triton.cdiv(n, 512),)](x, z, n, B=512)
    outer[(triton.cdiv(n, 512),)](x, z, y, n, B=512)
    return y
