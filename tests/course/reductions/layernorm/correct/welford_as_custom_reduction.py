import torch
import triton
import triton.language as tl


@triton.jit
def merge(n1, mean1, m21, n2, mean2, m22):
    n = n1 + n2
    safe = tl.where(n == 0, 1.0, n)
    d = mean2 - mean1
    return n, mean1 + d * (n2 / safe), m21 + m22 + d * d * (n1 * n2 / safe)


@triton.jit
def k(x_ptr, w_ptr, b_ptr, y_ptr, n, s0, s1, sw, sb, eps, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    ok = c < n
    x = tl.load(x_ptr + r * s0 + c * s1, mask=ok, other=0.0).to(tl.float32)
    count = tl.where(ok, 1.0, 0.0)
    _, mean, m2 = tl.reduce((count, x, tl.zeros_like(x)), 0, merge)
    y = (x - mean) * tl.rsqrt(m2 / n + eps)
    y = tl.fma(
        y,
        tl.load(w_ptr + c * sw, mask=ok, other=1.0).to(tl.float32),
        tl.load(b_ptr + c * sb, mask=ok, other=0.0).to(tl.float32),
    )
    tl.store(y_ptr + r * n + c, y, mask=ok)


def layernorm(x, weight, bias, eps=1e-5):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if y.numel():
        k[(x.shape[0],)](
            x,
            weight,
            bias,
            y,
            x.shape[1],
            *x.stride(),
            weight.stride(0),
            bias.stride(0),
            eps,
            B=triton.next_power_of_2(x.shape[1]),
        )
    return y
