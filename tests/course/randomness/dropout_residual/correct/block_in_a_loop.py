import torch
import triton
import triton.language as tl


@triton.jit
def add_kept(x, r, number, p):
    return tl.where(number >= p, r + x / (1 - p), r)


@triton.jit
def looped_kernel(x_ptr, r_ptr, y_ptr, n, p, seed, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * CHUNK
    for start in range(0, CHUNK, BLOCK):
        i = first + start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        r = tl.load(r_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        y = add_kept(x, r, tl.rand(seed, i), p)
        tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < n)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.numel()
    grid = (triton.cdiv(n, 2048),)
    looped_kernel[grid](x.contiguous(), residual.contiguous(), y, n, p, seed, CHUNK=2048, BLOCK=256)
    return y
