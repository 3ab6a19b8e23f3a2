"""The maximum of the first block is subtracted from the whole row."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(
    logits_ptr, targets_ptr, losses_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(axis=0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    if target == -100:
        tl.store(losses_ptr + row, 0.0)
    else:
        row_ptr = logits_ptr + row * stride_row
        first = tl.arange(0, BLOCK_SIZE).to(tl.int64)
        x = tl.load(row_ptr + first * stride_col, mask=first < n_cols, other=float("-inf"))
        row_max = tl.max(x.to(tl.float32), axis=0)
        row_sum = 0.0
        for start in range(0, n_cols, BLOCK_SIZE):
            cols = start + first
            x = tl.load(row_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
            row_sum += tl.sum(tl.exp(x.to(tl.float32) - row_max), axis=0)
        of_target = tl.load(row_ptr + target * stride_col).to(tl.float32)
        tl.store(losses_ptr + row, row_max - of_target + tl.log(row_sum))


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = logits.shape
    losses = torch.empty((n_rows,), dtype=torch.float32, device=logits.device)
    cross_entropy_kernel[(n_rows,)](
        logits, targets, losses, n_cols, logits.stride(0), logits.stride(1), BLOCK_SIZE=1024
    )
    return losses
