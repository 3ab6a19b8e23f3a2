"""A program for each row of a, which walks through all columns of b."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, n, k,
    stride_am, stride_ak, stride_bk, stride_bn,
    COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    scale_row = tl.load(scale_a_ptr + row)
    for first in range(0, n, COLUMNS):
        column = first + tl.arange(0, COLUMNS)
        total = tl.zeros((COLUMNS,), dtype=tl.float32)
        for start in range(0, k, INNER):
            inner = start + tl.arange(0, INNER)
            a = tl.load(a_ptr + row * stride_am + inner * stride_ak, mask=inner < k, other=0.0)
            b = tl.load(
                b_ptr + inner[:, None] * stride_bk + column[None, :] * stride_bn,
                mask=(inner[:, None] < k) & (column[None, :] < n), other=0.0,
            )  # fmt: skip
            total += tl.sum(a.to(tl.float32)[:, None] * b.to(tl.float32), axis=0)
        scale = scale_row * tl.load(scale_b_ptr + column, mask=column < n, other=0.0)
        tl.store(c_ptr + row * n + column, (total * scale).to(tl.bfloat16), mask=column < n)


def fp8_matmul(a, b, scale_a, scale_b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    if c.numel():
        kernel[(m,)](
            a, b, scale_a, scale_b, c, n, k, *a.stride(), *b.stride(), COLUMNS=64, INNER=64
        )
    return c
