import torch
import triton
import triton.language as tl

from triton_util import cdiv, check_tensors_gpu_ready, get_1d_mask, get_1d_offset


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = get_1d_offset(BLOCK_SIZE, tl.program_id(axis=0))
    mask = get_1d_mask(offsets, n_elements)
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def vector_add(x, y):
    out = torch.empty_like(x)
    check_tensors_gpu_ready(x, y, out)
    add_kernel[(cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK_SIZE=256)
    return out
