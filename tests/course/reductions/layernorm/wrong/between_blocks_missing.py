"""Between-pieces term missing in the merged variance."""

import torch
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, w_ptr, b_ptr, y_ptr, m, n, s0, s1, sw, sb, eps, B: tl.constexpr):
    for row in range(tl.program_id(0), m, tl.num_programs(0)):
        mean = 0.0
        m2 = 0.0
        seen = 0
        for i in range(0, n, B):
            c = i + tl.arange(0, B)
            x = tl.load(x_ptr + row * s0 + c * s1, mask=c < n, other=0.0).to(tl.float32)
            here = tl.minimum(n - i, B)
            local = tl.sum(x, 0) / here
            d = tl.where(c < n, x - local, 0.0)
            delta = local - mean
            total = seen + here
            mean += delta * here / total
            m2 += tl.sum(d * d, 0)
            seen = total
        r = 1.0 / tl.sqrt(m2 / n + eps)
        for i in range(0, n, B):
            c = i + tl.arange(0, B)
            x = tl.load(x_ptr + row * s0 + c * s1, mask=c < n).to(tl.float32)
            w = tl.load(w_ptr + c * sw, mask=c < n).to(tl.float32)
            b = tl.load(b_ptr + c * sb, mask=c < n).to(tl.float32)
            tl.store(y_ptr + row * n + c, (x - mean) * r * w + b, mask=c < n)


def layernorm(x, weight, bias, eps=1e-5):
    m, n = x.shape
    y = x.new_empty(m, n)
    if m > 0 and n > 0:
        k[(min(m, 3),)](x, weight, bias, y, m, n, x.stride(0), x.stride(1), weight.stride(0), bias.stride(0), eps, B=128)
    return y
