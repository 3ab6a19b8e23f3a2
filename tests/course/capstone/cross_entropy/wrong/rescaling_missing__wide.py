"""The sum so far keeps its old maximum; a block has 8,192 columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(
    logits_ptr, targets_ptr, losses_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    if target == -100:
        tl.store(losses_ptr + row, 0.0)
    else:
        row_ptr = logits_ptr + row * stride_row
        maximum = float("-inf")
        total = 0.0
        for start in range(0, n_cols, BLOCK_SIZE):
            cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
            x = tl.load(row_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            new_maximum = tl.maximum(maximum, tl.max(x, axis=0))
            safe = tl.where(new_maximum == float("-inf"), 0.0, new_maximum)
            total = total + tl.sum(tl.exp(x - safe), axis=0)
            maximum = new_maximum
        logit = tl.load(row_ptr + target * stride_col).to(tl.float32)
        tl.store(losses_ptr + row, maximum + tl.log(total) - logit)


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = logits.shape
    losses = torch.empty((n_rows,), dtype=torch.float32, device=logits.device)
    block_size = max(16, min(8192, triton.next_power_of_2(n_cols)))
    cross_entropy_kernel[(n_rows,)](
        logits, targets, losses, n_cols, logits.stride(0), logits.stride(1),
        BLOCK_SIZE=block_size, num_warps=max(4, block_size // 512),
    )
    return losses
