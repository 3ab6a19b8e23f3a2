"""The order comes from tl.swizzle2d."""

import torch
import triton
import triton.language as tl

@triton.jit
def swizzle_ids_kernel(output_ptr, n_rows, n_cols, group):
    pid = tl.program_id(0)
    group = tl.minimum(group, n_rows)
    per_group = group * n_cols
    group_id = pid // per_group
    first_row = group_id * group
    rows_here = tl.minimum(n_rows - first_row, group)
    row, col = tl.swizzle2d(pid // n_cols, pid % n_cols, n_rows, n_cols, group)
    tl.store(output_ptr + 2 * pid, row)
    tl.store(output_ptr + 2 * pid + 1, col)


def swizzle_ids(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    grid = (n_rows * n_cols,)
    swizzle_ids_kernel[grid](output, n_rows, n_cols, group)
    return output
