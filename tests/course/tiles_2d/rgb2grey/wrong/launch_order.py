"""The launch passes the width for the height."""

import torch
import triton
import triton.language as tl


@triton.jit
def rgb2grey_kernel(
    img_ptr,
    output_ptr,
    height,
    width,
    stride_channel,
    stride_row,
    stride_col,
    BLOCK_H: tl.constexpr,
    BLOCK_W: tl.constexpr,
):
    """Turn one BLOCK_H x BLOCK_W tile of a picture grey.

    The picture has shape (3, height, width); its strides are counted in elements.
    The output is contiguous and has shape (height, width).
    """
    # 1. The row numbers and the column numbers of my tile, and the mask of its pixels.
    # 2. A tile of pointers into the red channel; green and blue lie one channel stride further.
    # 3. grey = 0.2989 red + 0.5870 green + 0.1140 blue, in float32.
    # 4. Store the tile in the dtype of the output, under the mask.
    # In 64 bits, because a stride can lead to an address more than 2**31 elements away.
    rows = tl.program_id(axis=0).to(tl.int64) * BLOCK_H + tl.arange(0, BLOCK_H)
    cols = tl.program_id(axis=1).to(tl.int64) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = (rows[:, None] < height) & (cols[None, :] < width)
    red_ptrs = img_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col
    green_ptrs = red_ptrs + stride_channel
    blue_ptrs = green_ptrs + stride_channel
    red = tl.load(red_ptrs, mask=mask, other=0).to(tl.float32)
    green = tl.load(green_ptrs, mask=mask, other=0).to(tl.float32)
    blue = tl.load(blue_ptrs, mask=mask, other=0).to(tl.float32)
    grey = 0.2989 * red + 0.5870 * green + 0.1140 * blue
    output_ptrs = output_ptr + rows[:, None] * width + cols[None, :]
    tl.store(output_ptrs, grey.to(output_ptr.dtype.element_ty), mask=mask)


def rgb2grey(img: torch.Tensor) -> torch.Tensor:
    """Return the picture in grey.

    img: (3, h, w), uint8 or float (float32, float16 or bfloat16), any strides. The result is
    a new contiguous tensor of shape (h, w) with the dtype of img; uint8 is right within 1.
    """
    _, height, width = img.shape
    output = torch.empty((height, width), dtype=img.dtype, device=img.device)
    block_h, block_w = 16, 64
    # 5. The grid: how many tiles down, and how many to the right. Launch, and return the output.
    grid = (triton.cdiv(height, block_h), triton.cdiv(width, block_w))
    rgb2grey_kernel[grid](
        img, output, width, height, *img.stride(), BLOCK_H=block_h, BLOCK_W=block_w
    )
    return output
