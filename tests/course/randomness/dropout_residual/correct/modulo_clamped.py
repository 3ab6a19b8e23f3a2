import torch
import triton
import triton.language as tl


@triton.jit
def wrapped_kernel(x_ptr, r_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    # Lanes behind the end do an element again: the same number, the same value, no mask.
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % n
    x = tl.load(x_ptr + i).to(tl.float32)
    r = tl.load(r_ptr + i).to(tl.float32)
    y = tl.where(tl.rand(seed, i) < p, r, r + x / (1 - p))
    last = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) < n
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=last)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not x.numel():
        return y
    grid = (triton.cdiv(x.numel(), 64),)
    wrapped_kernel[grid](x.contiguous(), residual.contiguous(), y, x.numel(), p, seed, BLOCK=64)
    return y
