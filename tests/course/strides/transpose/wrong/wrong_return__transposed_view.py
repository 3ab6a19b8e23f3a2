"""Copies x and returns a transposed view of the copy."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_view(x_ptr, y_ptr, rows, cols, s0, s1, B: tl.constexpr):
    o = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = o < rows * cols
    tl.store(y_ptr + o, tl.load(x_ptr + (o // cols) * s0 + (o % cols) * s1, mask=m), mask=m)


def transpose(x):
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    copy_view[(triton.cdiv(rows * cols, 1024),)](x, y, rows, cols, *x.stride(), B=1024)
    return y.T
