"""exp2 where exp belongs."""

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
    row_max = float("-inf")
    row_sum = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        x = tl.load(logits_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        new_max = tl.maximum(row_max, tl.max(x, axis=0))
        shift = tl.where(new_max == float("-inf"), 0.0, new_max)
        row_sum = row_sum * tl.exp2(row_max - shift) + tl.sum(tl.exp2(x - shift), axis=0)
        row_max = new_max
    dloss = tl.load(dloss_ptr + row * stride_dloss)
    for start in range(0, n_cols, BLOCK_SIZE):
        lanes = tl.arange(0, BLOCK_SIZE).to(tl.int64)
        cols = start + lanes
        x = tl.load(logits_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        share = tl.exp2(x - row_max) / row_sum
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
        logits.stride(0), logits.stride(1), dloss.stride(0), BLOCK_SIZE=512,
    )  # fmt: skip
    return output
