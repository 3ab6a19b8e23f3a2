"""Padding lanes hold `-torch.inf`, a plain float that Triton takes from the module."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(
    x_ptr, output_ptr, n_rows, n_cols,
    stride_row, stride_col, output_stride_row,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(axis=0).to(tl.int64)
    best = tl.full((BLOCK_SIZE,), -torch.inf, dtype=tl.float32)
    total = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = (start + tl.arange(0, BLOCK_SIZE)).to(tl.int64)
        x = tl.load(
            x_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=-torch.inf
        )
        higher = tl.maximum(best, x.to(tl.float32))
        seen = higher > -torch.inf
        total = tl.where(
            seen, total * tl.exp(best - higher) + tl.exp(x.to(tl.float32) - higher), total
        )
        best = higher
    top = tl.max(best, axis=0)
    denominator = tl.sum(tl.where(best > -torch.inf, total * tl.exp(best - top), 0.0), axis=0)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = (start + tl.arange(0, BLOCK_SIZE)).to(tl.int64)
        x = tl.load(x_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=0.0)
        y = tl.exp(x.to(tl.float32) - top) / denominator
        tl.store(output_ptr + row * output_stride_row + cols, y, mask=cols < n_cols)


def softmax(x: torch.Tensor) -> torch.Tensor:
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n_rows, n_cols = x.shape
    if x.numel():
        block = min(1024, triton.next_power_of_2(n_cols))
        softmax_kernel[(n_rows,)](
            x, output, n_rows, n_cols, *x.stride(), output.stride(0), BLOCK_SIZE=block
        )
    return output
