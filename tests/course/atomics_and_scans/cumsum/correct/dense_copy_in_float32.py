import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0).to(tl.int64) * n
    y_ptr += tl.program_id(0).to(tl.int64) * n
    total = 0.0
    for i in range(tl.cdiv(n, BLOCK)):
        cols = i * BLOCK + tl.arange(0, BLOCK)
        sums = tl.cumsum(tl.load(x_ptr + cols, mask=cols < n, other=0.0), axis=0) + total
        tl.store(y_ptr + cols, sums, mask=cols < n)
        total = tl.max(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, sums, float("-inf")), axis=0)


def cumsum(x):
    """Copies and conversions by torch; the kernel knows dense float32 alone."""
    wide = x.float().contiguous()
    sums = torch.empty_like(wide)
    if wide.numel():
        kernel[(wide.shape[0],)](wide, sums, wide.shape[1], BLOCK=512)
    return sums.to(x.dtype)
