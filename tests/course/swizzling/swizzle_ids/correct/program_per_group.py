"""One program lists the tiles of a group, block by block."""

import torch
import triton
import triton.language as tl


@triton.jit
def group_kernel(out, n_rows, n_cols, group, BLOCK: tl.constexpr):
    g = tl.program_id(0)
    first = g * group
    size = min(group, n_rows - first)
    n = size * n_cols
    for s in range(0, n, BLOCK):
        i = s + tl.arange(0, BLOCK)
        at = (first * n_cols + i) * 2
        tl.store(out + at, first + i % size, mask=i < n)
        tl.store(out + at + 1, i // size, mask=i < n)


def swizzle_ids(n_rows, n_cols, group):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    group_kernel[(triton.cdiv(n_rows, group),)](out, n_rows, n_cols, group, BLOCK=32)
    return out
