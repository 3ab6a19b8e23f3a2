"""Fast form of the loss: a maximum and a sum for each thread, which are merged once.

Why the plain form falls short: in each block, all threads must agree on the new maximum before any
of them can add, and meanwhile nothing is read. Here each thread has a maximum and a sum of its
own, over the DEPTH numbers of its column at a time, and they are merged at the end of the row. The
exponentials are powers of two, for which the GPU has an instruction.
"""

import math

import torch
import triton
import triton.language as tl

from solutions import capstone as plain
from solutions.fast.reductions import vector_length

LOG2_E = tl.constexpr(math.log2(math.e))  # exp(x) is exp2(x * LOG2_E)
LN_2 = tl.constexpr(math.log(2.0))
SMALLEST = -3.4028234663852886e38  # not -inf: -inf minus -inf would be NaN
SHORTEST = 16384


@triton.jit
def long_loss_kernel(
    logits_ptr, targets_ptr, losses_ptr, n_vectors, stride_vectors, IGNORED: tl.constexpr,
    VECTOR: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr, FIRST: tl.constexpr,
):  # fmt: skip
    """Compute the loss of one row, DEPTH x WIDTH logits at a time.

    A row has n_vectors * VECTOR logits. WIDTH covers all threads, so that the DEPTH logits of a
    column belong to one thread. FIRST: what maxima start from.
    """
    n_cols = n_vectors * VECTOR
    row = tl.program_id(axis=0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    if target == IGNORED:
        tl.store(losses_ptr + row, 0.0)
    else:
        logits_ptr += row * stride_vectors * VECTOR
        of_target = tl.load(logits_ptr + target).to(tl.float32)
        offsets = tl.arange(0, DEPTH)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
        maxima = tl.full((WIDTH,), FIRST, dtype=tl.float32)
        sums = tl.zeros((WIDTH,), dtype=tl.float32)
        for start in tl.range(0, n_cols, DEPTH * WIDTH):
            cols = start + offsets
            x = tl.load(
                logits_ptr + cols, mask=cols < n_cols, other=float("-inf"),
                eviction_policy="evict_first",
            ).to(tl.float32)  # fmt: skip
            new_maxima = tl.maximum(maxima, tl.max(x, axis=0))
            terms = tl.sum(tl.exp2((x - new_maxima[None, :]) * LOG2_E), axis=0)
            sums = sums * tl.exp2((maxima - new_maxima) * LOG2_E) + terms
            maxima = new_maxima
        row_max = tl.max(maxima, axis=0)
        row_sum = tl.sum(sums * tl.exp2((maxima - row_max) * LOG2_E), axis=0)
        tl.store(losses_ptr + row, (row_max - of_target) + tl.log2(row_sum) * LN_2)


# %% cross_entropy
def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the loss of each row; the contract is that of the plain form."""
    n_rows, n_cols = logits.shape
    if logits.stride(1) != 1 or n_cols < SHORTEST or n_rows == 0:
        return plain.cross_entropy(logits, targets)
    return launch(logits, targets)


def launch(
    logits: torch.Tensor,
    targets: torch.Tensor,
    depth: int = 8,
    width: int = 2048,
    num_warps: int = 8,
) -> torch.Tensor:
    """Launch with blocks of this size."""
    n_rows, n_cols = logits.shape
    losses = torch.empty((n_rows,), dtype=torch.float32, device=logits.device)
    vector = vector_length(logits)
    long_loss_kernel[(n_rows,)](
        logits, targets, losses, n_cols // vector, logits.stride(0) // vector, IGNORED=-100,
        VECTOR=vector, DEPTH=depth, WIDTH=width, FIRST=SMALLEST, num_warps=num_warps,
    )  # fmt: skip
    return losses
