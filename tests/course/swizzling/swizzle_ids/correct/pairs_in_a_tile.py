"""Stores rows and columns together as a tile of pairs."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def group_size(first, n_rows, group):
    return tl.minimum(group, n_rows - first)


@triton.jit
def pair_kernel(out_ptr, n_rows, n_cols, group, total, BLOCK: tl.constexpr):
    pid = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = pid < total
    pid = tl.where(keep, pid, 0)
    per_group = group * n_cols
    first = (pid // per_group) * group
    size = group_size(first, n_rows, group)
    inside = pid - (pid // per_group) * per_group
    which = tl.arange(0, 2)[None, :]
    pair = tl.where(which == 0, (first + inside % size)[:, None], (inside // size)[:, None])
    tl.store(out_ptr + pid[:, None] * 2 + which, pair, mask=keep[:, None])


def swizzle_ids(n_rows, n_cols, group):
    total = n_rows * n_cols
    out = torch.empty((total, 2), dtype=torch.int32, device=DEVICE)
    pair_kernel[(triton.cdiv(total, 128),)](out, n_rows, n_cols, group, total, BLOCK=128)
    return out
