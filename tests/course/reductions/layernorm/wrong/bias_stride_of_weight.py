"""The bias is read with the stride of the weight."""

import torch
import triton
import triton.language as tl


@triton.jit
def piece(source, cols, n, step, pivot):
    x = tl.load(source + cols * step, mask=cols < n, other=0.0).to(tl.float32)
    return tl.where(cols < n, x - pivot, 0.0)


@triton.jit
def norm_rows(x_ptr, w_ptr, b_ptr, out_ptr, m, n, step_m, step_n, step_w, step_b, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK).to(tl.int64)
    while row < m:
        source = x_ptr + row * step_m
        pivot = tl.load(source).to(tl.float32)
        acc = tl.zeros((BLOCK,), dtype=tl.float32)
        for start in range(0, n, BLOCK):
            acc += piece(source, start + lanes, n, step_n, pivot)
        mean = tl.sum(acc, axis=0) / n
        acc = tl.zeros((BLOCK,), dtype=tl.float32)
        for start in range(0, n, BLOCK):
            cols = start + lanes
            d = tl.where(cols < n, piece(source, cols, n, step_n, pivot) - mean, 0.0)
            acc += d * d
        scale = 1.0 / tl.sqrt(tl.sum(acc, axis=0) / n + eps)
        for start in range(0, n, BLOCK):
            cols = start + lanes
            mask = cols < n
            d = piece(source, cols, n, step_n, pivot) - mean
            w = tl.load(w_ptr + cols * step_w, mask=mask, other=0.0).to(tl.float32)
            b = tl.load(b_ptr + cols * step_w, mask=mask, other=0.0).to(tl.float32)
            y = d * scale * w + b
            tl.store(out_ptr + row * n + cols, y.to(out_ptr.dtype.element_ty), mask=mask)
        row += tl.num_programs(0)



def layernorm(x, weight, bias, eps):
    m, n = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if m * n == 0:
        return out
    norm_rows[(min(m, 7),)](
        x, weight, bias, out, m, n, x.stride(0), x.stride(1), weight.stride(0), bias.stride(0), eps, BLOCK=64
    )
    return out
