import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, sr, sc, BLOCK: tl.constexpr):
    """What an addition to the carry rounds away is carried on as well."""
    row = tl.program_id(0).to(tl.int64)
    high = 0.0
    low = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * sr + cols * sc, mask=cols < n, other=0.0).to(tl.float32)
        y = (tl.cumsum(x, axis=0) + low) + high
        tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n)
        block = tl.sum(x, axis=0)
        total = high + block
        back = total - high
        low += (high - (total - back)) + (block - back)
        high = total


def cumsum(x):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if y.numel():
        kernel[(m,)](x, y, n, x.stride(0), x.stride(1), BLOCK=1024)
    return y
