"""Keeps the carry when a program goes on to its next block of rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def scan_rows(x_ptr, out_ptr, m, n, sx, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.arange(0, COLS)
    carry = tl.zeros((ROWS,), tl.float32)
    for block in range(tl.program_id(0), tl.cdiv(m, ROWS), tl.num_programs(0)):
        r = (block * ROWS + tl.arange(0, ROWS)).to(tl.int64)
        for start in range(0, n, COLS):
            ok = (r[:, None] < m) & (start + c[None, :] < n)
            x = tl.load(x_ptr + r[:, None] * sx[0] + (start + c).to(tl.int64)[None, :] * sx[1], mask=ok, other=0.0).to(tl.float32)
            y = tl.cumsum(x, axis=1) + carry[:, None]
            tl.store(out_ptr + r[:, None] * n + start + c[None, :], y.to(out_ptr.dtype.element_ty), mask=ok)
            carry = tl.sum(tl.where(c[None, :] == COLS - 1, y, 0.0), axis=1)


def cumsum(x):
    m, n = x.shape
    out = torch.empty(m, n, device=x.device, dtype=x.dtype)
    if m and n:
        scan_rows[(min(triton.cdiv(m, 4), 128),)](x, out, m, n, x.stride(), ROWS=4, COLS=128)
    return out
