import torch
import triton
import triton.language as tl


@triton.jit
def backwards_kernel(x_ptr, y_ptr, n, sr, sc, BLOCK: tl.constexpr):
    """What is behind an element is taken from the sum of the block."""
    row = tl.program_id(0).to(tl.int64)
    before = tl.full((), 0.0, tl.float32)
    for start in tl.range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * sr + cols * sc, mask=cols < n, other=0.0).to(tl.float32)
        flipped = tl.flip(x, dim=0)
        y = before + tl.flip(tl.cumsum(flipped, axis=0, reverse=True), dim=0)
        tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n)
        before = before + tl.sum(x, axis=0)


def cumsum(x):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if m > 0 and n > 0:
        backwards_kernel[(m,)](x, y, n, x.stride(0), x.stride(1), BLOCK=256)
    return y
