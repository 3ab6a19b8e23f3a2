import torch
import triton
import triton.language as tl

@triton.jit
def ids_kernel(out_ptr, n_rows, n_cols, group):
    pid = tl.program_id(0)
    width = group * n_cols
    group_id = pid // width
    first = group_id * group
    size = min(n_rows - first, group)
    row = first + (pid % width) % size
    col = (pid % width) // size
    tl.store(out_ptr + 2 * pid, row)
    tl.store(out_ptr + 2 * pid + 1, col)


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    ids_kernel[(n_rows * n_cols,)](out, n_rows, n_cols, group)
    return out
