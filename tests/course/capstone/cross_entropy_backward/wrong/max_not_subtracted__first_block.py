"""The maximum of the first block is subtracted from the whole row."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_backward_kernel(
    logits_ptr, targets_ptr, dloss_ptr, output_ptr, n_cols,
    stride_row, stride_col, stride_dloss, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(axis=0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    logits_ptr += row * stride_row
    dloss = tl.load(dloss_ptr + row * stride_dloss)
    first = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    x = tl.load(logits_ptr + first * stride_col, mask=first < n_cols, other=float("-inf"))
    row_max = tl.max(x.to(tl.float32), axis=0)
    row_sum = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + first
        x = tl.load(logits_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
        row_sum += tl.sum(tl.exp(x.to(tl.float32) - row_max), axis=0)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + first
        x = tl.load(logits_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
        share = tl.exp(x.to(tl.float32) - row_max) / row_sum
        dx = tl.where(cols == target, share - 1.0, share) * dloss
        dx = tl.where(target == -100, 0.0, dx)
        tl.store(output_ptr + row * n_cols + cols, dx.to(output_ptr.dtype.element_ty), mask=cols < n_cols)


def cross_entropy_backward(
    logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> torch.Tensor:
    n_rows, n_cols = logits.shape
    output = torch.empty((n_rows, n_cols), dtype=logits.dtype, device=logits.device)
    cross_entropy_backward_kernel[(n_rows,)](
        logits, targets, dloss, output, n_cols,
        logits.stride(0), logits.stride(1), dloss.stride(0), BLOCK_SIZE=1024,
    )  # fmt: skip
    return output
