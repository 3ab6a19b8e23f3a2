"""Stores each pair as a block of two."""

import torch
import triton
import triton.language as tl


@triton.jit
def swizzle_ids_kernel(output_ptr, n_rows, n_cols, group):
    pid = tl.program_id(0)
    per_group = group * n_cols
    first = pid // per_group * group
    rows_here = tl.minimum(group, n_rows - first)
    within = pid % per_group
    two = tl.arange(0, 2)
    pair = tl.where(two == 0, first + within % rows_here, within // rows_here)
    tl.store(output_ptr + pid * 2 + two, pair)


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    swizzle_ids_kernel[(n_rows * n_cols,)](output, n_rows, n_cols, group)
    return output
