"""Lanes are merged with the number of rounds as the weight of every lane, although lanes behind
the ragged end saw one element fewer (or none).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def norm_rows(x_ptr, w_ptr, b_ptr, out_ptr, m, n, step_m, step_n, step_w, step_b, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK).to(tl.int64)
    source = x_ptr + row * step_m
    pivot = tl.load(source).to(tl.float32)
    seen = tl.zeros((BLOCK,), dtype=tl.float32)
    mean = tl.zeros((BLOCK,), dtype=tl.float32)
    spread = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + lanes
        mask = cols < n
        x = tl.load(source + cols * step_n, mask=mask, other=0.0).to(tl.float32) - pivot
        seen += tl.where(mask, 1.0, 0.0)
        delta = tl.where(mask, x - mean, 0.0)
        mean += delta / tl.maximum(seen, 1.0)
        spread += tl.where(mask, delta * (x - mean), 0.0)
    rounds = tl.max(seen, axis=0)
    centre = tl.sum(rounds * mean, axis=0) / n
    off = mean - centre
    var = tl.sum(spread + rounds * off * off, axis=0) / n
    scale = 1.0 / tl.sqrt(var + eps)
    for start in range(0, n, BLOCK):
        cols = start + lanes
        mask = cols < n
        x = tl.load(source + cols * step_n, mask=mask, other=0.0).to(tl.float32) - pivot
        w = tl.load(w_ptr + cols * step_w, mask=mask, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + cols * step_b, mask=mask, other=0.0).to(tl.float32)
        y = (x - centre) * scale * w + b
        tl.store(out_ptr + row * n + cols, y.to(out_ptr.dtype.element_ty), mask=mask)



def layernorm(x, weight, bias, eps):
    m, n = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if m * n == 0:
        return out
    norm_rows[(m,)](
        x, weight, bias, out, m, n, x.stride(0), x.stride(1), weight.stride(0), bias.stride(0), eps, BLOCK=64
    )
    return out
