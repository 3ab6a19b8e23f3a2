import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, stride_m, stride_n, P: tl.constexpr, L: tl.constexpr):
    """A block as P pieces of L columns: scanned within, then what comes before each piece."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, P)[:, None] * L + tl.arange(0, L)[None, :]
    carry = 0.0
    for start in range(0, n, P * L):
        cols = start + place
        x = tl.load(x_ptr + row * stride_m + cols * stride_n, mask=cols < n, other=0.0)
        x = x.to(tl.float32)
        within = tl.cumsum(x, axis=1)
        pieces = tl.sum(x, axis=1)
        before = tl.cumsum(pieces, axis=0) - pieces
        y = within + before[:, None] + carry
        tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n)
        carry += tl.sum(pieces, axis=0)


def cumsum(x):
    rows, n = x.size()
    y = torch.empty(rows, n, dtype=x.dtype, device=x.device)
    if rows * n == 0:
        return y
    kernel[(rows,)](x, y, n, x.stride(0), x.stride(1), P=16, L=16)
    return y
