"""exp2 where exp belongs."""

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
        row_max = float("-inf")
        row_sum = 0.0
        for start in range(0, n_cols, BLOCK_SIZE):
            cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
            x = tl.load(row_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            new_max = tl.maximum(row_max, tl.max(x, axis=0))
            shift = tl.where(new_max == float("-inf"), 0.0, new_max)
            row_sum = row_sum * tl.exp2(row_max - shift) + tl.sum(tl.exp2(x - shift), axis=0)
            row_max = new_max
        of_target = tl.load(row_ptr + target * stride_col).to(tl.float32)
        loss = row_max + tl.log(row_sum) - of_target
        tl.store(losses_ptr + row, loss)


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = logits.shape
    losses = torch.empty((n_rows,), dtype=torch.float32, device=logits.device)
    cross_entropy_kernel[(n_rows,)](
        logits, targets, losses, n_cols, logits.stride(0), logits.stride(1), BLOCK_SIZE=1024
    )
    return losses
