"""The maximum of the first block is subtracted from the whole row."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    x_ptr += row * stride_row
    first = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    x = tl.load(x_ptr + first * stride_col, mask=first < n_cols, other=float("-inf"))
    row_max = tl.max(x.to(tl.float32), axis=0)
    row_sum = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + first
        x = tl.load(x_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
        row_sum += tl.sum(tl.exp(x.to(tl.float32) - row_max), axis=0)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + first
        x = tl.load(x_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
        y = tl.exp(x.to(tl.float32) - row_max) / row_sum
        tl.store(output_ptr + row * n_cols + cols, y.to(output_ptr.dtype.element_ty), mask=cols < n_cols)


def softmax(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    softmax_kernel[(n_rows,)](x, output, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=1024)
    return output
