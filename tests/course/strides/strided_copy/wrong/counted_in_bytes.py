"""The strides are multiplied by the size of an element, as if a pointer counted bytes."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n_rows, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_rows * n_cols
    rows, cols = offsets // n_cols, offsets % n_cols
    x = tl.load(x_ptr + rows * stride_row + cols * stride_col, mask=mask)
    tl.store(out_ptr + offsets, x, mask=mask)


def strided_copy(x):
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    copy_kernel[(triton.cdiv(n_rows * n_cols, 512),)](
        x, out, n_rows, n_cols, x.stride(0) * x.element_size(), x.stride(1) * x.element_size(), BLOCK=512
    )
    return out
