"""Model solutions of the lesson on 2D tiles: one tile of rows and columns per program."""

import torch
import triton
import triton.language as tl


# %% outer_sum
@triton.jit
def outer_sum_kernel(
    x_ptr,
    y_ptr,
    output_ptr,
    n_rows,
    n_cols,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Compute one BLOCK_M x BLOCK_N tile of x[i] + y[j].

    x has n_rows elements, y has n_cols. The output is contiguous, (n_rows, n_cols).
    """
    # 1. The row numbers and the column numbers of my tile.
    # 2. Load a block of x by the rows, and a block of y by the columns, each with its mask.
    # 3. Make x a column and y a row, and add them: that is the tile.
    # 4. Store the tile under a mask for both axes.
    ### BEGIN SOLUTION
    rows = tl.program_id(axis=0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(axis=1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + rows, mask=rows < n_rows, other=0.0)
    y = tl.load(y_ptr + cols, mask=cols < n_cols, other=0.0)
    tile = x[:, None] + y[None, :]
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    tl.store(output_ptr + rows[:, None] * n_cols + cols[None, :], tile, mask=mask)
    ### END SOLUTION


def outer_sum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the matrix of all sums x[i] + y[j].

    x: (m,), y: (n,), contiguous, of the same dtype (float32, float16 or bfloat16). The result is
    a new contiguous tensor of shape (m, n) with that dtype.
    """
    n_rows, n_cols = x.numel(), y.numel()
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 16), triton.cdiv(n_cols, 64))
    outer_sum_kernel[grid](x, y, output, n_rows, n_cols, BLOCK_M=16, BLOCK_N=64)
    return output


# %% rgb2grey
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
    # 1. The row numbers and the column numbers of my tile, and a mask that is true for pixels.
    # 2. A tile of pointers into the red channel; green is one channel stride further, blue two.
    # 3. grey = 0.2989 red + 0.5870 green + 0.1140 blue, in float32.
    # 4. Store the tile in the dtype of the output, under the mask.
    ### BEGIN SOLUTION
    # In 64 bits: a pixel can be more than 2**31 elements after the first.
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
    ### END SOLUTION


def rgb2grey(img: torch.Tensor) -> torch.Tensor:
    """Return the picture in grey.

    img: (3, h, w), uint8 or float (float32, float16 or bfloat16), any strides. The result is
    a new contiguous tensor of shape (h, w) with the dtype of img; uint8 may be off by 1.
    """
    _, height, width = img.shape
    output = torch.empty((height, width), dtype=img.dtype, device=img.device)
    block_h, block_w = 16, 64
    # 5. The grid: how many tiles down, and how many to the right. Launch, and return the output.
    ### BEGIN SOLUTION
    grid = (triton.cdiv(height, block_h), triton.cdiv(width, block_w))
    rgb2grey_kernel[grid](
        img, output, height, width, *img.stride(), BLOCK_H=block_h, BLOCK_W=block_w
    )
    return output
    ### END SOLUTION


# %% bias_relu
@triton.jit
def bias_relu_kernel(
    x_ptr,
    bias_ptr,
    output_ptr,
    n_rows,
    n_cols,
    stride_row,
    stride_col,
    stride_bias,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Compute one BLOCK_M x BLOCK_N tile of relu(x + bias).

    x has shape (n_rows, n_cols), bias (n_cols,); strides are counted in elements.
    The output is contiguous and has the shape of x.
    """
    # 1. The row numbers and the column numbers of my tile, and its mask.
    # 2. Load the tile of x. Load the BLOCK_N biases *once*: broadcasting reuses them in
    #    every row.
    # 3. Add in float32, and take the maximum of the sum and 0.
    # 4. Store the tile in the dtype of the output, under the mask.
    ### BEGIN SOLUTION
    rows = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(axis=1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x_ptrs = x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col
    x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + cols * stride_bias, mask=cols < n_cols, other=0.0).to(tl.float32)
    result = tl.maximum(x + bias[None, :], 0.0)
    output_ptrs = output_ptr + rows[:, None] * n_cols + cols[None, :]
    tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask)
    ### END SOLUTION


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return relu(x + bias).

    x: (m, n), bias: (n,), any strides, of the same dtype (float32, float16 or bfloat16).
    The result is a new contiguous tensor of shape (m, n) with the dtype of x.
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    block_m, block_n = 16, 64
    # 5. The grid: how many tiles down, and how many to the right. Launch, and return the output.
    ### BEGIN SOLUTION
    grid = (triton.cdiv(n_rows, block_m), triton.cdiv(n_cols, block_n))
    bias_relu_kernel[grid](
        x,
        bias,
        output,
        n_rows,
        n_cols,
        x.stride(0),
        x.stride(1),
        bias.stride(0),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
    )
    return output
    ### END SOLUTION
