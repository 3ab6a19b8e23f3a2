import torch
import triton
import triton.language as tl


@triton.jit
def stats_kernel(x, mean_out, rstd_out, n, s0, s1, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    s = tl.zeros((B,), tl.float32)
    for k in range(0, n, B):
        s += tl.load(x + r * s0 + (k + i).to(tl.int64) * s1, mask=k + i < n, other=0.0).to(
            tl.float32
        )
    mean = tl.sum(s) / n
    q = tl.zeros((B,), tl.float32)
    for k in range(0, n, B):
        v = tl.load(x + r * s0 + (k + i).to(tl.int64) * s1, mask=k + i < n, other=0.0).to(
            tl.float32
        )
        v = tl.where(k + i < n, v - mean, 0.0)
        q += v * v
    tl.store(mean_out + r, mean)
    tl.store(rstd_out + r, tl.rsqrt(tl.sum(q) / n + eps))


@triton.jit
def apply_kernel(
    x, w, b, y, mean_in, rstd_in, m, n, s0, s1, sw, sb, BM: tl.constexpr, BN: tl.constexpr
):
    r = tl.program_id(1) * BM + tl.arange(0, BM)
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    mean = tl.load(mean_in + r, mask=r < m, other=0.0)
    rstd = tl.load(rstd_in + r, mask=r < m, other=0.0)
    weight = tl.load(w + c * sw, mask=c < n, other=0.0).to(tl.float32)
    shift = tl.load(b + c * sb, mask=c < n, other=0.0).to(tl.float32)
    ok = (r[:, None] < m) & (c[None, :] < n)
    v = tl.load(
        x + r[:, None].to(tl.int64) * s0 + c[None, :].to(tl.int64) * s1, mask=ok, other=0.0
    ).to(tl.float32)
    out = (v - mean[:, None]) * rstd[:, None] * weight[None, :] + shift[None, :]
    tl.store(y + r[:, None].to(tl.int64) * n + c[None, :], out, mask=ok)


def layernorm(x, weight, bias, eps=1e-5):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    mean = torch.empty(m, dtype=torch.float32, device=x.device)
    rstd = torch.empty_like(mean)
    stats_kernel[(m,)](x, mean, rstd, n, *x.stride(), eps, B=1024)
    apply_kernel[(triton.cdiv(n, 128), triton.cdiv(m, 8))](
        x,
        weight,
        bias,
        y,
        mean,
        rstd,
        m,
        n,
        *x.stride(),
        weight.stride(0),
        bias.stride(0),
        BM=8,
        BN=128,
    )
    return y
