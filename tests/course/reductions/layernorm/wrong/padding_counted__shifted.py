"""Lanes behind the row count in the variance of rows from which the first element was subtracted."""

import torch
import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    output_ptr,
    n_cols,
    stride_row,
    stride_col,
    stride_weight,
    stride_bias,
    eps,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_row + cols * stride_col, mask=mask, other=0.0).to(tl.float32)
    first = tl.load(x_ptr + row * stride_row, mask=n_cols > 0, other=0.0).to(tl.float32)
    shifted = tl.where(mask, x - first, 0.0)
    mean = tl.sum(shifted, axis=0) / n_cols
    centred = shifted - mean
    variance = tl.sum(centred * centred, axis=0) / n_cols
    weight = tl.load(weight_ptr + cols * stride_weight, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + cols * stride_bias, mask=mask, other=0.0).to(tl.float32)
    y = centred / tl.sqrt(variance + eps) * weight + bias
    tl.store(output_ptr + row * n_cols + cols, y.to(output_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layernorm_long_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    output_ptr,
    n_cols,
    stride_row,
    stride_col,
    stride_weight,
    stride_bias,
    eps,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride_row
    output_ptr += row * n_cols
    first = tl.load(x_ptr).to(tl.float32)
    total = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols * stride_col, mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(tl.where(mask, x - first, 0.0), axis=0)
    mean = total / n_cols
    squares = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols * stride_col, mask=mask, other=0.0).to(tl.float32)
        centred = tl.where(mask, x - first - mean, 0.0)
        squares += tl.sum(centred * centred, axis=0)
    scale = 1.0 / tl.sqrt(squares / n_cols + eps)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols * stride_col, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + cols * stride_weight, mask=mask, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + cols * stride_bias, mask=mask, other=0.0).to(tl.float32)
        y = (x - first - mean) * scale * weight + bias
        tl.store(output_ptr + cols, y.to(output_ptr.dtype.element_ty), mask=mask)


def layernorm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    longest_block = 16384
    if n_cols <= longest_block:
        kernel, block_size = layernorm_kernel, max(16, triton.next_power_of_2(n_cols))
    else:
        kernel, block_size = layernorm_long_kernel, 4096
    num_warps = 4 if block_size <= 2048 else 8
    kernel[(n_rows,)](
        x,
        weight,
        bias,
        output,
        n_cols,
        *x.stride(),
        *weight.stride(),
        *bias.stride(),
        eps,
        BLOCK_SIZE=block_size,
        num_warps=num_warps,
    )
    return output
