import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def load_row(x_ptr, row, cols, n, sr, sc):
    """Outside the row the last column is loaded again, and replaced by 0."""
    x = tl.load(x_ptr + row * sr + tl.minimum(cols, n - 1) * sc).to(tl.float32)
    return tl.where(cols < n, x, 0.0)


@triton.jit
def short_kernel(x_ptr, y_ptr, n, sr, sc, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    y = tl.associative_scan(load_row(x_ptr, row, cols, n, sr, sc), 0, add)
    tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n)


@triton.jit
def long_kernel(x_ptr, y_ptr, n, sr, sc, BLOCK: tl.constexpr):
    row, carried = tl.program_id(0).to(tl.int64), 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = load_row(x_ptr, row, cols, n, sr, sc)
        y = carried + tl.associative_scan(x, 0, add)
        tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n)
        carried = carried + tl.reduce(x, 0, add)


def cumsum(x):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    if n <= 512:
        short_kernel[(m,)](x, y, n, x.stride(0), x.stride(1), BLOCK=triton.next_power_of_2(n))
    else:
        long_kernel[(m,)](x, y, n, x.stride(0), x.stride(1), BLOCK=512)
    return y
