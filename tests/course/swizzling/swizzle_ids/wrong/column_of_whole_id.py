"""Column from the whole pid, not the pid within the group."""

import torch
import triton
import triton.language as tl


@triton.jit
def k(out_ptr, n_rows, n_cols, group):
    """One program per tile, as in the Triton tutorial."""
    pid = tl.program_id(0)
    num_pid_in_group = group * n_cols
    group_id = pid // num_pid_in_group
    first_row = group_id * group
    group_size = min(n_rows - first_row, group)
    row = first_row + (pid % num_pid_in_group) % group_size
    col = pid // group_size
    tl.store(out_ptr + pid * 2, row)
    tl.store(out_ptr + pid * 2 + 1, col)


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    if n_rows * n_cols:
        k[(n_rows * n_cols,)](out, n_rows, n_cols, group)
    return out
