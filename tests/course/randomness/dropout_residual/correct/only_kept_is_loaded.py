import torch
import triton
import triton.language as tl


@triton.jit
def kept_only_kernel(x_ptr, r_ptr, y_ptr, n, p: tl.constexpr, seed, BLOCK: tl.constexpr):
    # What is dropped is not even loaded.
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = (tl.rand(seed, i) >= p) & (i < n)
    x = tl.load(x_ptr + i, mask=keep, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    scale: tl.constexpr = 1.0 / (1.0 - p)
    tl.store(y_ptr + i, (r + x * scale).to(y_ptr.dtype.element_ty), mask=i < n)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.numel()
    if n > 0:
        kept_only_kernel[(triton.cdiv(n, 128),)](
            x.contiguous(), residual.contiguous(), y, n, p, seed, BLOCK=128
        )
    return y
