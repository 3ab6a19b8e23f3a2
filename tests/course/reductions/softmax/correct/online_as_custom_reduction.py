import torch
import triton
import triton.language as tl


@triton.jit
def merge(m1, s1, m2, s2):
    m = tl.maximum(m1, m2)
    a = tl.where(m1 == m, 1.0, tl.exp(m1 - m))
    b = tl.where(m2 == m, 1.0, tl.exp(m2 - m))
    return m, s1 * a + s2 * b


@triton.jit
def k(x_ptr, y_ptr, n, s0, s1, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    ok = c < n
    v = tl.load(x_ptr + r * s0 + c * s1, mask=ok, other=float("-inf")).to(tl.float32)
    ones = tl.where(ok & (v > float("-inf")), 1.0, 0.0)
    m, s = tl.reduce((v, ones), 0, merge)
    tl.store(y_ptr + r * n + c, tl.exp(v - m) / s, mask=ok)


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if y.numel():
        k[(x.shape[0],)](x, y, x.shape[1], *x.stride(), B=triton.next_power_of_2(x.shape[1]))
    return y
