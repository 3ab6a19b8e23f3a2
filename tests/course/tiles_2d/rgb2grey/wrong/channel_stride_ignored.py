"""Looks for green and blue beside red."""

import torch
import triton
import triton.language as tl


@triton.jit
def rgb2grey_kernel(
    img_ptr, output_ptr, height, width, stride_channel, stride_row, stride_col, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr
):
    rows = tl.program_id(axis=0).to(tl.int64) * BLOCK_H + tl.arange(0, BLOCK_H)
    cols = tl.program_id(axis=1).to(tl.int64) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = (rows[:, None] < height) & (cols[None, :] < width)
    red_ptrs = img_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col
    green_ptrs = red_ptrs + 1
    blue_ptrs = red_ptrs + 2
    red = tl.load(red_ptrs, mask=mask, other=0).to(tl.float32)
    green = tl.load(green_ptrs, mask=mask, other=0).to(tl.float32)
    blue = tl.load(blue_ptrs, mask=mask, other=0).to(tl.float32)
    grey = 0.2989 * red + 0.5870 * green + 0.1140 * blue
    output_ptrs = output_ptr + rows[:, None] * width + cols[None, :]
    tl.store(output_ptrs, grey.to(output_ptr.dtype.element_ty), mask=mask)


def rgb2grey(img: torch.Tensor) -> torch.Tensor:
    _, height, width = img.shape
    output = torch.empty((height, width), dtype=img.dtype, device=img.device)
    block_h, block_w = 16, 64
    grid = (triton.cdiv(height, block_h), triton.cdiv(width, block_w))
    rgb2grey_kernel[grid](
        img, output, height, width, *img.stride(), BLOCK_H=block_h, BLOCK_W=block_w
    )
    return output
