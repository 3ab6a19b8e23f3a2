"""The comparisons around `&` have no brackets."""

import torch
import triton
import triton.language as tl


@triton.jit
def grey_kernel(img_ptr, output_ptr, height, width, stride_c, stride_row, stride_col, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = rows[:, None] < height & cols[None, :] < width
    at = img_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col
    r = tl.load(at, mask=mask).to(tl.float32)
    g = tl.load(at + stride_c, mask=mask).to(tl.float32)
    b = tl.load(at + 2 * stride_c, mask=mask).to(tl.float32)
    tl.store(output_ptr + rows[:, None] * width + cols[None, :], 0.2989 * r + 0.5870 * g + 0.1140 * b, mask=mask)


def rgb2grey(img):
    _, height, width = img.shape
    output = torch.empty((height, width), dtype=img.dtype, device=img.device)
    grid = (triton.cdiv(height, 32), triton.cdiv(width, 32))
    grey_kernel[grid](img, output, height, width, img.stride(0), img.stride(1), img.stride(2), BLOCK=32)
    return output
