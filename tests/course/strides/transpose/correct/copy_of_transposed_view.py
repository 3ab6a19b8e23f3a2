"""The launcher makes the transposed view; the kernel copies a strided view."""

import torch
import triton
import triton.language as tl

@triton.jit
def strided_copy_kernel(v_ptr, y_ptr, rows, cols, stride_r, stride_c, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(v_ptr + r * stride_r + c * stride_c, mask=c < cols)
    tl.store(y_ptr + r * cols + c, v, mask=c < cols)


def transpose(x):
    view = x.t()
    rows, cols = view.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    strided_copy_kernel[(rows, triton.cdiv(cols, 256))](view, y, rows, cols, *view.stride(), BLOCK=256)
    return y
