"""Rows of whole vectors have a kernel of their own."""

import torch
import triton
import triton.language as tl


@triton.jit
def wide_kernel(x_ptr, s_ptr, output_ptr, quarters, total, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rows = offsets // (quarters * 4)
    mask = offsets < total * 4
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x * tl.load(s_ptr + rows, mask=mask), mask=mask)


@triton.jit
def halves_kernel(x_ptr, s_ptr, output_ptr, eighths, total, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rows = offsets // (eighths * 8)
    mask = offsets < total * 8
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x * tl.load(s_ptr + rows, mask=mask), mask=mask)


@triton.jit
def any_kernel(x_ptr, s_ptr, output_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n)
        tl.store(output_ptr + row * n + cols, x * tl.load(s_ptr + row), mask=cols < n)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    if x.element_size() == 4 and n % 4 == 0:
        wide_kernel[(triton.cdiv(m * n, 1024),)](x, s, output, n // 4, m * n // 4, BLOCK=1024)
    elif x.element_size() == 2 and n % 8 == 0:
        halves_kernel[(triton.cdiv(m * n, 2048),)](x, s, output, n // 8, m * n // 8, BLOCK=2048)
    else:
        any_kernel[(m,)](x, s, output, n, BLOCK=256)
    return output
