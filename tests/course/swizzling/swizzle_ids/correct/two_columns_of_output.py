"""Fills two tensors and returns them as a view of one."""

import torch
import triton
import triton.language as tl

@triton.jit
def ids_kernel(out_ptr, stride_pid, stride_axis, n_rows, n_cols, group, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n_rows * n_cols, tl.num_programs(0) * BLOCK):
        p = start + tl.arange(0, BLOCK)
        mask = p < n_rows * n_cols
        g = p // (group * n_cols)
        height = tl.where(mask, tl.minimum(n_rows - g * group, group), 1)
        rest = p - g * group * n_cols
        tl.store(out_ptr + p * stride_pid, g * group + rest % height, mask=mask)
        tl.store(out_ptr + p * stride_pid + stride_axis, rest // height, mask=mask)


def swizzle_ids(n_rows, n_cols, group):
    out = torch.empty((n_rows * n_cols, 2), dtype=torch.int16, device="cuda" if torch.cuda.is_available() else "cpu")
    ids_kernel[(3,)](out, out.stride(0), out.stride(1), n_rows, n_cols, group, BLOCK=32)
    return out
