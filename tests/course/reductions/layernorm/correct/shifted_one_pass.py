"""One walk, with the first element subtracted before anything is squared."""

import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, w_ptr, b_ptr, y_ptr, N, sm, sn, sw, sb, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first = tl.load(x_ptr + row * sm).to(tl.float32)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * sm + n * sn, mask=n < N, other=0.0).to(tl.float32)
        sums += tl.where(n < N, x - first, 0.0)
    shift = tl.sum(sums, axis=0) / N
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * sm + n * sn, mask=n < N, other=0.0).to(tl.float32)
        d = tl.where(n < N, x - first - shift, 0.0)
        squares += d * d
    deviation = tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * sm + n * sn, mask=n < N, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + n * sw, mask=n < N, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + n * sb, mask=n < N, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * N + n, ((x - first - shift) / deviation * w + b).to(y_ptr.dtype.element_ty), mask=n < N)


def layernorm(x, weight, bias, eps):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    kernel[(x.shape[0],)](
        x, weight, bias, y, x.shape[1], *x.stride(), *weight.stride(), *bias.stride(), eps, BLOCK=512
    )
    return y
