"""A program for each row, whose rows lie n_cols apart."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(out, x, bias, s_row, s_col, s_bias, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    keep = cols < n_cols
    v = tl.load(x + row * n_cols + cols * s_col, mask=keep, other=0).to(tl.float32)
    v += tl.load(bias + cols * s_bias, mask=keep, other=0).to(tl.float32)
    v = tl.maximum(v, 0)
    tl.store(out + row * n_cols + cols, v.to(out.dtype.element_ty), mask=keep)


def bias_relu(x, bias):
    m, n = x.shape
    out = torch.empty(m, n, dtype=x.dtype, device=x.device)
    if m and n:
        row_kernel[(m,)](
            out, x, bias, *x.stride(), bias.stride(0), n, BLOCK=triton.next_power_of_2(n)
        )
    return out
