"""In the online walk the new terms are added first and then rescaled together with the old sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x_ptr, out_ptr, n_rows, n_cols, step_row, step_col, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    while row < n_rows:
        source = x_ptr + row * step_row
        top = tl.full((BLOCK,), float("-inf"), tl.float32)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for start in range(0, n_cols, BLOCK):
            cols = (start + lanes).to(tl.int64)
            x = tl.load(source + cols * step_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            new_top = tl.maximum(top, x)
            safe = tl.where(new_top == float("-inf"), 0.0, new_top)
            scale = tl.where(top == float("-inf"), 1.0, tl.exp(top - safe))
            total = (total + tl.exp(x - safe)) * scale
            top = new_top
        peak = tl.max(top, axis=0)
        norm = tl.sum(total * tl.exp(top - peak), axis=0)
        for start in range(0, n_cols, BLOCK):
            cols = (start + lanes).to(tl.int64)
            x = tl.load(source + cols * step_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            y = tl.exp(x - peak) / norm
            tl.store(out_ptr + row * n_cols + cols, y.to(out_ptr.dtype.element_ty), mask=cols < n_cols)
        row += tl.num_programs(0)


def softmax(x):
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if n_rows * n_cols == 0:
        return out
    softmax_rows[(min(n_rows, 6),)](x, out, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK=128)
    return out
