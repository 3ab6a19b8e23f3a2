"""Weight and bias of the first block are used for every block of the row."""

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
    x = tl.load(x_ptr + row * stride_row + cols.to(tl.int64) * stride_col, mask=mask, other=0.0).to(
        tl.float32
    )
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(mask, x - mean, 0.0)
    var = tl.sum(centred * centred, axis=0) / n_cols
    rstd = 1 / tl.sqrt(var + eps)
    w = tl.load(weight_ptr + cols * stride_weight, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(bias_ptr + cols * stride_bias, mask=mask, other=0.0).to(tl.float32)
    tl.store(output_ptr + row * n_cols + cols, centred * rstd * w + b, mask=mask)


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
    first = tl.load(x_ptr + row * stride_row).to(tl.float32)
    total = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(
            x_ptr + row * stride_row + cols.to(tl.int64) * stride_col, mask=mask, other=0.0
        ).to(tl.float32)
        total += tl.sum(tl.where(mask, x - first, 0.0), axis=0)
    shift = total / n_cols
    squares = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(
            x_ptr + row * stride_row + cols.to(tl.int64) * stride_col, mask=mask, other=0.0
        ).to(tl.float32)
        d = tl.where(mask, x - first - shift, 0.0)
        squares += tl.sum(d * d, axis=0)
    rstd = tl.rsqrt(squares / n_cols + eps)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(
            x_ptr + row * stride_row + cols.to(tl.int64) * stride_col, mask=mask, other=0.0
        ).to(tl.float32)
        w = tl.load(weight_ptr + tl.arange(0, BLOCK_SIZE) * stride_weight, mask=mask).to(tl.float32)
        b = tl.load(bias_ptr + tl.arange(0, BLOCK_SIZE) * stride_bias, mask=mask).to(tl.float32)
        tl.store(output_ptr + row * n_cols + cols, (x - first - shift) * rstd * w + b, mask=mask)


def layernorm(x, weight, bias, eps=1e-5):
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    longest_block = 16384
    if n_cols <= longest_block:
        kernel, block_size = layernorm_kernel, max(16, triton.next_power_of_2(n_cols))
    else:
        kernel, block_size = layernorm_long_kernel, 4096
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
        num_warps=4 if block_size <= 2048 else 8,
    )
    return output
