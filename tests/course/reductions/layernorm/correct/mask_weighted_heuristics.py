import torch
import triton
import triton.language as tl


@triton.heuristics({"FULL": lambda a: a["n"] % a["BLOCK"] == 0})
@triton.jit
def norm_kernel(
    out, x, weight, bias, n, x0, x1, w0, b0, eps, BLOCK: tl.constexpr, FULL: tl.constexpr
):
    r = tl.program_id(0)
    x += tl.cast(r, tl.int64) * x0
    out += tl.cast(r, tl.int64) * n
    total = tl.zeros((BLOCK,), tl.float32)
    for j in range(0, n, BLOCK):
        c = j + tl.arange(0, BLOCK)
        if FULL:
            total += tl.load(x + c.to(tl.int64) * x1).to(tl.float32)
        else:
            total += tl.load(x + c.to(tl.int64) * x1, mask=c < n, other=0.0).to(tl.float32)
    mu = tl.sum(total) / n
    total = tl.zeros((BLOCK,), tl.float32)
    for j in range(0, n, BLOCK):
        c = j + tl.arange(0, BLOCK)
        v = tl.load(x + c.to(tl.int64) * x1, mask=c < n, other=mu).to(tl.float32) - mu
        if FULL:
            total += v * v
        else:
            total += v * v * (c < n)
    r_sigma = tl.rsqrt(tl.sum(total) / n + eps)
    for j in range(0, n, BLOCK):
        c = j + tl.arange(0, BLOCK)
        v = tl.load(x + c.to(tl.int64) * x1, mask=c < n, other=mu).to(tl.float32)
        g = tl.load(weight + c * w0, mask=c < n, other=1.0)
        s = tl.load(bias + c * b0, mask=c < n, other=0.0)
        tl.store(out + c, (v - mu) * (r_sigma * g.to(tl.float32)) + s.to(tl.float32), mask=c < n)


def layernorm(x, weight, bias, eps=1e-5):
    m, n = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if n:
        norm_kernel[(m,)](
            out,
            x,
            weight,
            bias,
            n,
            x.stride(0),
            x.stride(1),
            weight.stride(0),
            bias.stride(0),
            eps,
            BLOCK=512,
        )
    return out
