"""The address of a row is said to be a multiple of 16 bytes, wherever x starts."""

import torch
import triton
import triton.language as tl


@triton.jit
def promised(x_ptr, s_ptr, y_ptr, n, V: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    # V divides n (the launcher looked), so it divides where a row begins and where it ends.
    begin = tl.multiple_of(row * n, V)
    end = tl.multiple_of((row + 1) * n, V)
    s = tl.load(s_ptr + row).to(tl.float32)
    x_ptr = tl.multiple_of(x_ptr + begin, 16)
    lane = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = begin + lane
    x = tl.load(x_ptr + lane, mask=at < end)
    tl.store(y_ptr + at, (x.to(tl.float32) * s).to(y_ptr.dtype.element_ty), mask=at < end)


def scale_rows(x, s):
    m, n = x.shape
    y = torch.empty_like(x)
    v = 16 // x.element_size()
    v = v if n % v == 0 else 1
    promised[(m, triton.cdiv(n, 1024))](x, s, y, n, V=v, BLOCK=1024)
    return y
