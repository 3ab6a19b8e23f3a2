"""The gradient lies in memory as the logits do: transposed, where they are."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_backward_kernel(
    logits_ptr, targets_ptr, dloss_ptr, output_ptr, n_cols,
    stride_row, stride_col, stride_dloss, out_row, out_col, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(axis=0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    logits_ptr += row * stride_row
    output_ptr += row * out_row
    dtype = output_ptr.dtype.element_ty
    if target == -100:
        for start in tl.range(0, n_cols, BLOCK_SIZE):
            cols = start + tl.arange(0, BLOCK_SIZE)
            zeros = tl.zeros((BLOCK_SIZE,), dtype=dtype)
            tl.store(output_ptr + cols * out_col, zeros, mask=cols < n_cols)
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
            tl.store(output_ptr + cols * out_col, dx.to(dtype), mask=cols < n_cols)


def cross_entropy_backward(
    logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> torch.Tensor:
    n_rows, n_cols = logits.shape
    output = torch.empty_like(logits)
    block_size = max(16, min(8192, triton.next_power_of_2(n_cols)))
    cross_entropy_backward_kernel[(n_rows,)](
        logits, targets, dloss, output, n_cols,
        logits.stride(0), logits.stride(1), dloss.stride(0), output.stride(0), output.stride(1),
        BLOCK_SIZE=block_size, num_warps=max(4, block_size // 512),
    )  # fmt: skip
    return output
