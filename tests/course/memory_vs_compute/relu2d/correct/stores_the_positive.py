import torch
import triton
import triton.language as tl


@triton.jit
def relu_k(x_ptr, y_ptr, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x_ptr + o, mask=o < n, other=0.0)
    # y is all zeros already: store the positive ones only
    tl.store(y_ptr + o, v, mask=(o < n) & (v > 0))


def relu2d(x):
    y = torch.zeros_like(x)
    relu_k[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), B=512)
    return y
