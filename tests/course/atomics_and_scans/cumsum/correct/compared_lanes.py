import torch
import triton
import triton.language as tl


@triton.jit
def compare_kernel(x_ptr, y_ptr, n, sr, sc, BLOCK: tl.constexpr):
    """All lanes with all lanes: no scan at all."""
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    carried = 0.0
    start = 0
    while start < n:
        cols = start + lanes
        x = tl.load(x_ptr + row * sr + cols * sc, mask=cols < n, other=0.0).to(tl.float32)
        up_to = tl.where(lanes[None, :] <= lanes[:, None], x[None, :], 0.0)
        y = carried + tl.sum(up_to, axis=1)
        tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n)
        carried += tl.sum(x, axis=0)
        start += BLOCK


def cumsum(x):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if y.numel():
        compare_kernel[(m,)](x, y, n, x.stride(0), x.stride(1), BLOCK=64)
    return y
