"""A program fills one whole group, column by column."""

import torch
import triton
import triton.language as tl

@triton.jit
def group_kernel(out_ptr, n_rows, n_cols, group):
    g = tl.program_id(0)
    first = g * group
    size = min(group, n_rows - first)
    place = first * n_cols
    for col in range(n_cols):
        for i in range(size):
            tl.store(out_ptr + 2 * place, first + i)
            tl.store(out_ptr + 2 * place + 1, col)
            place += 1


def swizzle_ids(n_rows, n_cols, group):
    out = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device="cuda" if torch.cuda.is_available() else "cpu")
    group_kernel[(triton.cdiv(n_rows, group),)](out, n_rows, n_cols, group)
    return out
