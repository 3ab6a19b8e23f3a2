"""Model solutions of the capstone: the loss of a language model, forward and backward."""

import torch
import triton
import triton.language as tl


# %% cross_entropy
@triton.jit
def cross_entropy_kernel(
    logits_ptr, targets_ptr, losses_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr
):  # fmt: skip
    """Compute the loss of one row: log(sum(exp(row))) - row[target], and 0 for a target of -100.

    The row has n_cols logits, and may be longer than a block. Its strides are counted in
    elements. targets (int64) and losses (float32) are contiguous.
    """
    # 1. Which row, and which target? If the target is -100, store 0.0 and nothing else.
    # 2. Otherwise loop over the row once, as in a long softmax: the maximum so far, and the sum of
    #    exp(x - maximum so far), which is rescaled when the maximum grows. A block may hold only
    #    -inf.
    # 3. The target's own logit is one number: load it by its address.
    # 4. Store maximum + log(sum) - that logit.
    ### BEGIN SOLUTION
    # In 64 bits, because an address can be more than 2**31 elements away.
    row = tl.program_id(axis=0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    if target == -100:
        tl.store(losses_ptr + row, 0.0)
    else:
        logits_ptr += row * stride_row
        row_max = float("-inf")
        # One sum for each lane; they are added up once, at the end.
        sums = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
        for start in tl.range(0, n_cols, BLOCK_SIZE):
            cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
            x_ptrs = logits_ptr + cols * stride_col
            x = tl.load(x_ptrs, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            new_max = tl.maximum(row_max, tl.max(x, axis=0))
            # -inf minus -inf would be NaN. While all logits are -inf, the sum is 0.
            shift = tl.where(new_max == float("-inf"), 0.0, new_max)
            sums = sums * tl.exp(row_max - shift) + tl.exp(x - shift)
            row_max = new_max
        of_target = tl.load(logits_ptr + target * stride_col).to(tl.float32)
        # Subtract the two logits first: if both are large, the difference is exact.
        loss = (row_max - of_target) + tl.log(tl.sum(sums, axis=0))
        tl.store(losses_ptr + row, loss)
    ### END SOLUTION


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the loss of each row: log(sum(exp(row))) - row[target].

    logits: (t, v), any strides (float32, float16 or bfloat16), of which some may be -inf, but not
    at the target; targets: (t,) int64, contiguous, from 0 to v - 1, or -100 for an ignored
    row: its loss is 0. The result is a new tensor (t,) of float32, for every dtype.
    """
    n_rows, n_cols = logits.shape
    losses = torch.empty((n_rows,), dtype=torch.float32, device=logits.device)
    block_size = max(16, min(8192, triton.next_power_of_2(n_cols)))
    cross_entropy_kernel[(n_rows,)](
        logits, targets, losses, n_cols, logits.stride(0), logits.stride(1),
        BLOCK_SIZE=block_size, num_warps=max(4, block_size // 512),
    )  # fmt: skip
    return losses


# %% cross_entropy_backward
@triton.jit
def cross_entropy_backward_kernel(
    logits_ptr, targets_ptr, dloss_ptr, output_ptr, n_cols,
    stride_row, stride_col, stride_dloss, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    """Compute one row of (softmax - one-hot) * dloss, and zeros where the target is -100.

    The row has n_cols logits, and may be longer than a block. The strides of logits and dloss are
    counted in elements. targets (int64) and the output are contiguous.
    """
    # 1. Which row, and which target? If the target is -100, store a row of zeros, whatever dloss
    #    holds.
    # 2. Otherwise loop over the row once, for its maximum and its sum, as in the forward pass.
    # 3. Loop over it again: exp(x - maximum) / sum, minus 1 in the column of the target, times
    #    dloss; store it in the dtype of the output.
    ### BEGIN SOLUTION
    # In 64 bits, because an address can be more than 2**31 elements away.
    row = tl.program_id(axis=0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    logits_ptr += row * stride_row
    output_ptr += row * n_cols
    dtype = output_ptr.dtype.element_ty
    if target == -100:
        for start in tl.range(0, n_cols, BLOCK_SIZE):
            cols = start + tl.arange(0, BLOCK_SIZE)
            zeros = tl.zeros((BLOCK_SIZE,), dtype=dtype)
            tl.store(output_ptr + cols, zeros, mask=cols < n_cols)
    else:
        row_max = float("-inf")
        sums = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
        for start in tl.range(0, n_cols, BLOCK_SIZE):
            cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
            x_ptrs = logits_ptr + cols * stride_col
            x = tl.load(x_ptrs, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            new_max = tl.maximum(row_max, tl.max(x, axis=0))
            shift = tl.where(new_max == float("-inf"), 0.0, new_max)
            sums = sums * tl.exp(row_max - shift) + tl.exp(x - shift)
            row_max = new_max
        row_sum = tl.sum(sums, axis=0)
        dloss = tl.load(dloss_ptr + row * stride_dloss)
        for start in tl.range(0, n_cols, BLOCK_SIZE):
            cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
            x_ptrs = logits_ptr + cols * stride_col
            x = tl.load(x_ptrs, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            share = tl.exp(x - row_max) / row_sum
            dx = tl.where(cols == target, share - 1.0, share) * dloss
            tl.store(output_ptr + cols, dx.to(dtype), mask=cols < n_cols)
    ### END SOLUTION


def cross_entropy_backward(
    logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> torch.Tensor:
    """Return the gradient of the logits: (softmax - one-hot) * dloss, row by row.

    logits: (t, v), any strides (float32, float16 or bfloat16), of which some may be -inf, but not
    at the target; targets: (t,) int64, contiguous, from 0 to v - 1, or -100 for an ignored
    row: its gradient is 0, whatever dloss holds there; dloss: (t,) float32, any stride,
    0 too. The result is new and contiguous, in the dtype of logits.
    """
    n_rows, n_cols = logits.shape
    output = torch.empty((n_rows, n_cols), dtype=logits.dtype, device=logits.device)
    block_size = max(16, min(8192, triton.next_power_of_2(n_cols)))
    cross_entropy_backward_kernel[(n_rows,)](
        logits, targets, dloss, output, n_cols,
        logits.stride(0), logits.stride(1), dloss.stride(0),
        BLOCK_SIZE=block_size, num_warps=max(4, block_size // 512),
    )  # fmt: skip
    return output
