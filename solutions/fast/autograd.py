"""Fast form of the gradient of softmax: each row read once.

Why the plain form cannot reach the speed of memory: it reads y and dy twice, once for the sum of
their products and once for the result. The second reading comes from the cache, but the row must
then pass through the multiprocessor again. Here a row waits in registers for its sum; short rows
share a program. Rows longer than a block go to the plain form.
"""

import torch
import triton
import triton.language as tl

from solutions import autograd as plain
from solutions.fast.reductions import LONGEST_BLOCK, vector_length


@triton.jit
def softmax_backward_rows_kernel(
    y_ptr, dy_ptr, output_ptr, n_rows, n_vectors, y_vectors, dy_vectors,
    VECTOR: tl.constexpr, ROWS: tl.constexpr, BLOCK_SIZE: tl.constexpr, FULL: tl.constexpr,
):  # fmt: skip
    """Compute ROWS rows of y * (dy - sum(dy * y)), each of n_vectors * VECTOR elements.

    Row i of y begins at i * y_vectors * VECTOR, and that of dy likewise. FULL says that the
    ROWS x BLOCK_SIZE elements of every program exist.
    """
    n_cols = n_vectors * VECTOR
    rows = tl.program_id(axis=0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK_SIZE)[None, :]
    mask = (rows[:, None] < n_rows) & (cols < n_cols)
    y_ptrs = y_ptr + rows[:, None] * y_vectors * VECTOR + cols
    dy_ptrs = dy_ptr + rows[:, None] * dy_vectors * VECTOR + cols
    if FULL:
        y, dy = tl.load(y_ptrs).to(tl.float32), tl.load(dy_ptrs).to(tl.float32)
    else:
        y = tl.load(y_ptrs, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptrs, mask=mask, other=0.0).to(tl.float32)
    dx = y * (dy - tl.sum(y * dy, axis=1)[:, None])
    output_ptrs = output_ptr + rows[:, None] * n_cols + cols
    if FULL:
        tl.store(output_ptrs, dx.to(output_ptr.dtype.element_ty))
    else:
        tl.store(output_ptrs, dx.to(output_ptr.dtype.element_ty), mask=mask)


# %% softmax_backward
def softmax_backward(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Return the gradient of a row-wise softmax; the contract is that of the plain form."""
    n_rows, n_cols = y.shape
    if y.stride(1) != 1 or dy.stride(1) != 1 or not 0 < n_cols <= LONGEST_BLOCK or not n_rows:
        return plain.softmax_backward(y, dy)
    output = torch.empty((n_rows, n_cols), dtype=y.dtype, device=y.device)
    vector = min(vector_length(y), vector_length(dy))
    block_size = triton.next_power_of_2(n_cols)
    rows = max(1, 2048 // block_size)
    softmax_backward_rows_kernel[(triton.cdiv(n_rows, rows),)](
        y, dy, output, n_rows, n_cols // vector, y.stride(0) // vector, dy.stride(0) // vector,
        VECTOR=vector, ROWS=rows, BLOCK_SIZE=block_size,
        FULL=block_size == n_cols and n_rows % rows == 0,
        num_warps=4 if block_size <= 2048 else 8 if block_size <= 8192 else 16,
    )  # fmt: skip
    return output
