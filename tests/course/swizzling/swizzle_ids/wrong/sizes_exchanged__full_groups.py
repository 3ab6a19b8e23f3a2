"""Only full groups are looked for by group * n_rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_of(pid, n_rows, n_cols, GROUP: tl.constexpr):
    """Row and column of tile number pid, told apart by whether it lies in the full groups."""
    full_rows = n_rows - n_rows % GROUP
    in_full = pid < full_rows * n_cols
    rest = n_rows % GROUP
    # a height of at least 1 keeps the division harmless where there is no short group
    height = tl.where(in_full, GROUP, tl.maximum(rest, 1))
    start = tl.where(in_full, (pid // (GROUP * n_rows)) * GROUP, full_rows)
    inside = pid - start * n_cols
    column = inside // height
    row = start + (inside - column * height)
    return row, column


@triton.jit
def write_tiles(out_ptr, n_rows, n_cols, GROUP: tl.constexpr):
    pid = tl.program_id(axis=0)
    row, column = tile_of(pid, n_rows, n_cols, GROUP)
    which = tl.arange(0, 2)
    pair = tl.where(which == 0, row, column)
    tl.store(out_ptr + pid * 2 + which, pair)


def swizzle_ids(n_rows, n_cols, group):
    where = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")
    count = n_rows * n_cols
    result = torch.zeros(count, 2, dtype=torch.int32, device=where)
    if count > 0:
        write_tiles[(count,)](result, n_rows, n_cols, GROUP=max(1, min(group, n_rows)))
    return result
