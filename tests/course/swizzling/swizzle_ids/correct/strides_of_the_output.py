"""Uses the strides of the output, and rounds the column up from the tile after."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(rows_ptr, stride_line, stride_pair, n_rows, n_cols, group):
    pid = tl.program_id(0)
    group = tl.minimum(group, n_rows)
    in_group = n_cols * group
    start = (pid // in_group) * group
    size = n_rows - start
    if size > group:
        size = group
    local = pid % in_group
    row = start + local % size
    col = tl.cdiv(local + 1, size) - 1
    tl.store(rows_ptr + pid * stride_line, row)
    tl.store(rows_ptr + pid * stride_line + stride_pair, col)


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    kernel[(n_rows * n_cols,)](out, out.stride(0), out.stride(1), n_rows, n_cols, group)
    return out
