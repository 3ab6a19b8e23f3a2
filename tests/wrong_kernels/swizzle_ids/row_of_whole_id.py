"""The row from pid % size, as in old copies of Triton's tutorial."""

import torch
import triton
import triton.language as tl


@triton.jit
def k(out_ptr, n_rows, n_cols, group):
    pid = tl.program_id(0)
    in_group = group * n_cols
    g = pid // in_group
    first = g * group
    size = min(n_rows - first, group)
    local = pid % in_group
    row = first + pid % size
    col = local // size
    tl.store(out_ptr + 2 * pid, row)
    tl.store(out_ptr + 2 * pid + 1, col)


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    k[(n_rows * n_cols,)](out, n_rows, n_cols, group)
    return out
