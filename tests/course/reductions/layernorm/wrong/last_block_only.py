"""Sum overwritten by each piece."""

import torch
import triton
import triton.language as tl


@triton.jit
def kern(X, Y, W, B, sx, sxc, sw, sb, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    first = tl.load(X + row * sx).to(tl.float32)
    _mean = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        a = tl.load(X + row * sx + cols * sxc, mask=cols < N, other=0.).to(tl.float32)
        _mean = tl.where(cols < N, a - first, 0.)
    mean = first + tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + row * sx + cols * sxc, mask=cols < N, other=0.).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.)
        _var += x * x
    var = tl.sum(_var, axis=0) / N
    rstd = tl.rsqrt(var + eps)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        w = tl.load(W + cols * sw, mask=mask).to(tl.float32)
        b = tl.load(B + cols * sb, mask=mask).to(tl.float32)
        x = tl.load(X + row * sx + cols * sxc, mask=mask, other=0.).to(tl.float32)
        tl.store(Y + row * N + cols, (x - mean) * rstd * w + b, mask=mask)


def layernorm(x, weight, bias, eps=1e-5):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if m and n:
        kern[(m,)](x, y, weight, bias, *x.stride(), *weight.stride(), *bias.stride(), n, eps, BLOCK=512, num_warps=4)
    return y
