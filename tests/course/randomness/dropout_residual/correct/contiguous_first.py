import torch
import triton
import triton.language as tl


@triton.jit
def dropout_add(x_ptr, r_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside).to(tl.float32)
    r = tl.load(r_ptr + i, mask=inside).to(tl.float32)
    keep = tl.rand(seed, i) >= p
    y = r + tl.where(keep, x / (1.0 - p), 0.0)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=inside)


def dropout_residual(x, residual, p, seed):
    x, residual = x.contiguous(), residual.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        dropout_add[(triton.cdiv(n, 256),)](x, residual, y, n, p, seed, BLOCK=256)
    return y
