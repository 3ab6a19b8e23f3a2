"""Asks first whether the tile lies in a whole group."""

import torch
import triton
import triton.language as tl


@triton.jit
def swizzle_ids_kernel(output_ptr, n_rows, n_cols, group):
    pid = tl.program_id(0)
    whole = n_rows // group
    if pid < whole * group * n_cols:
        g = pid // (group * n_cols)
        i = pid % (group * n_cols)
        row = g * group + i % group
        col = i // group
    else:
        i = pid - whole * group * n_cols
        left = n_rows % group
        row = whole * group + i % left
        col = i // left
    tl.store(output_ptr + pid * 2, row.to(tl.int32))
    tl.store(output_ptr + pid * 2 + 1, col.to(tl.int32))


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    swizzle_ids_kernel[(n_rows * n_cols,)](output, n_rows, n_cols, group)
    return output
