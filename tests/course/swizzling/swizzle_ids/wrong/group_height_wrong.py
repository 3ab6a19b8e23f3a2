"""Takes the larger of the group and the rows that are left."""

import torch
import triton
import triton.language as tl


@triton.jit
def swizzle_ids_kernel(output_ptr, n_rows, n_cols, group):
    pid = tl.program_id(axis=0)
    num_pid_in_group = group * n_cols
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * group
    group_size_m = max(n_rows - first_pid_m, group)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    tl.store(output_ptr + 2 * pid, pid_m)
    tl.store(output_ptr + 2 * pid + 1, pid_n)


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    swizzle_ids_kernel[(n_rows * n_cols,)](output, n_rows, n_cols, group)
    return output
