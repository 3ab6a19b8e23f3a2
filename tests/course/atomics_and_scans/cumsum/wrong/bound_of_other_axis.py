"""The loop over columns ends at the number of rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def plus(p, q):
    return p + q


@triton.jit
def row_kernel(x_ptr, out_ptr, n_rows, n_cols, sr, sc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    carry = 0.0
    start = 0
    while start < n_rows:
        cols = (start + tl.arange(0, BLOCK)).to(tl.int64)
        ok = cols < n_cols
        x = tl.load(x_ptr + row * sr + cols * sc, mask=ok, other=0.0).to(tl.float32)
        sums = tl.associative_scan(x, 0, plus) + carry
        tl.store(out_ptr + row * n_cols + cols, sums.to(out_ptr.dtype.element_ty), mask=ok)
        total = tl.sum(x, axis=0)
        carry += total
        start += BLOCK


def cumsum(x):
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if out.numel() > 0:
        row_kernel[(n_rows,)](x, out, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK=64)
    return out
