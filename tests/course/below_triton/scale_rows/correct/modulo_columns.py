"""No masks: columns and rows beyond the end come round again, and store the same again."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, s_ptr, output_ptr, M: tl.constexpr, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    cols = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    offsets = rows[:, None] * N + cols[None, :]
    s = tl.load(s_ptr + rows)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets) * s[:, None])


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    if x.numel():
        grid = (triton.cdiv(m, 8), triton.cdiv(n, 128))
        scale_kernel[grid](x, s, output, M=m, N=n, BM=8, BN=128)
    return output
