"""Exchanges the two branches of tl.where."""

import torch
import triton
import triton.language as tl


@triton.jit
def swizzle_ids_kernel(output_ptr, n_rows, n_cols, group):
    pid = tl.program_id(0)
    tiles = group * n_cols
    g = pid // tiles
    rest = pid - g * tiles
    start = g * group
    height = tl.where(start + group > n_rows, group, n_rows - start)
    col = rest // height
    row = start + rest - col * height
    tl.store(output_ptr + pid * 2 + 0, row)
    tl.store(output_ptr + pid * 2 + 1, col)


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    swizzle_ids_kernel[(n_rows * n_cols,)](output, n_rows, n_cols, group)
    return output
