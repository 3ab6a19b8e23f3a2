import torch
import triton
import triton.language as tl


@triton.jit
def ln_chan(X, W, B, Y, N, sxm, sxn, sw, sb, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    X = X + r * sxm
    seen = 0.0
    mu = 0.0
    M2 = 0.0
    lanes = tl.arange(0, BLOCK)
    start = 0
    while start < N:
        ok = start + lanes < N
        v = tl.load(X + (start + lanes).to(tl.int64) * sxn, mask=ok, other=0.0).to(tl.float32)
        cnt = tl.minimum(BLOCK, N - start).to(tl.float32)
        bmu = tl.sum(v, axis=0) / cnt
        dev = tl.where(ok, v - bmu, 0.0)
        d = bmu - mu
        tot = seen + cnt
        M2 += tl.sum(dev * dev, axis=0) + d * d * (seen * cnt / tot)
        mu += d * (cnt / tot)
        seen = tot
        start += BLOCK
    r_std = 1.0 / tl.sqrt(M2 / N + eps)
    start = 0
    while start < N:
        c = start + lanes
        ok = c < N
        v = tl.load(X + c.to(tl.int64) * sxn, mask=ok, other=0.0).to(tl.float32)
        w = tl.load(W + c * sw, mask=ok, other=1.0).to(tl.float32)
        b = tl.load(B + c * sb, mask=ok, other=0.0).to(tl.float32)
        tl.store(Y + r * N + c, ((v - mu) * r_std * w + b).to(Y.dtype.element_ty), mask=ok)
        start += BLOCK


def layernorm(x, weight, bias, eps=1e-5):
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    if M > 0 and N > 0:
        ln_chan[(M,)](
            x,
            weight,
            bias,
            y,
            N,
            x.stride(0),
            x.stride(1),
            weight.stride(0),
            bias.stride(0),
            eps,
            BLOCK=2048,
        )
    return y
