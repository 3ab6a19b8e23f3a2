"""The last group is given n_rows % group rows, which is 0 where group divides n_rows: division
by zero, wrong rows and columns there.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def swizzle_ids_kernel(output_ptr, n_rows, n_cols, group):
    pid = tl.program_id(0)
    group_id = pid // (group * n_cols)
    last_group = tl.cdiv(n_rows, group) - 1
    rows_in_group = tl.where(group_id == last_group, n_rows % group, group)
    index = pid % (group * n_cols)
    row = group_id * group + index % rows_in_group
    col = index // rows_in_group
    line = output_ptr + pid * 2
    tl.store(line, row)
    tl.store(line + 1, col)


def swizzle_ids(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    if n_rows and n_cols:
        swizzle_ids_kernel[(n_rows * n_cols,)](output, n_rows, n_cols, group)
    return output
