"""Uses tl.swizzle2d."""

import torch
import triton
import triton.language as tl

@triton.jit
def ids_kernel(out_ptr, n_rows, n_cols, group):
    i = tl.program_id(0)
    j = tl.program_id(1)
    row, col = tl.swizzle2d(i, j, n_rows, n_cols, group)
    pid = i * n_cols + j
    tl.store(out_ptr + pid * 2, row)
    tl.store(out_ptr + pid * 2 + 1, col)


def swizzle_ids(n_rows, n_cols, group):
    if torch.cuda.is_available():
        device = torch.device("cuda")
    else:
        device = torch.device("cpu")
    out = torch.empty(n_rows * n_cols, 2, dtype=torch.int32, device=device)
    ids_kernel[(n_rows, n_cols)](out, n_rows, n_cols, group)
    return out
