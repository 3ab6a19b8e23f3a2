import torch
import triton
import triton.language as tl


@triton.jit
def pair_kernel(x_ptr, r_ptr, y_ptr, n, p, inverse, seed, HALF: tl.constexpr):
    """Two neighbours for each lane, put together by tl.join."""
    even = (tl.program_id(0) * HALF + tl.arange(0, HALF)) * 2
    element = tl.join(even, even + 1)
    number = tl.join(tl.rand(seed, even), tl.rand(seed, even + 1))
    mask = element < n
    x = tl.load(x_ptr + element, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + element, mask=mask, other=0.0).to(tl.float32)
    y = r + tl.where(number < p, 0.0, x * inverse)
    tl.store(y_ptr + element, y.to(y_ptr.dtype.element_ty), mask=mask)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        pair_kernel[(triton.cdiv(x.numel(), 512),)](
            x.contiguous(), residual.contiguous(), y, x.numel(), p, 1 / (1 - p), seed, HALF=256
        )
    return y
