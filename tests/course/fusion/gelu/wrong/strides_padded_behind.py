"""The shape is filled up with ones in front, the strides with zeros behind."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_tanh(src, dst, count, n1, n2, n3, t0, t1, t2, t3, SIZE: tl.constexpr):
    lane = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    there = lane < count
    at = lane % n3 * t3 + lane // n3 % n2 * t2 + lane // (n3 * n2) % n1 * t1 + lane // (n3 * n2 * n1) * t0
    v = tl.load(src + at, mask=there).to(tl.float32)
    z = 0.7978845608 * (v + 0.044715 * v * v * v)
    tl.store(dst + lane, (v * tl.sigmoid(2.0 * z)).to(dst.dtype.element_ty), mask=there)


def gelu(x):
    result = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    shape, strides = list(x.shape), list(x.stride())
    while len(shape) < 4:
        shape.insert(0, 1)
        strides.append(0)
    if x.numel():
        gelu_tanh[(triton.cdiv(x.numel(), 512),)](x, result, x.numel(), *shape[1:], *strides, SIZE=512)
    return result
