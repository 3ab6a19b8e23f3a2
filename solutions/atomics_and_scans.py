"""Model solutions of the lesson on atomics and scans: results to which many programs add."""

import torch
import triton
import triton.language as tl


# %% histogram
@triton.jit
def histogram_kernel(x_ptr, counts_ptr, n_elements, n_bins, stride_x, BLOCK_SIZE: tl.constexpr):
    """Add 1 to the count of each of BLOCK_SIZE numbers.

    x has n_elements integers, stride_x apart; counts has n_bins int32 numbers, next to each other.
    """
    # 1. Compute the offsets of the numbers of this program, and the mask.
    # 2. Load the numbers.
    # 3. Which of them exist *and* have a bin? A number may be negative.
    # 4. Add 1 to the count of each, so that no addition is lost.
    ### BEGIN SOLUTION
    # In 64 bits, because an address can be more than 2**31 elements away.
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    # In 64 bits as well: then any integer can be compared with n_bins.
    x = tl.load(x_ptr + offsets * stride_x, mask=mask, other=0).to(tl.int64)
    inside = mask & (x >= 0) & (x < n_bins)
    tl.atomic_add(counts_ptr + x, 1, mask=inside, sem="relaxed")
    ### END SOLUTION


def histogram(x: torch.Tensor, n_bins: int) -> torch.Tensor:
    """Return how often each of the numbers 0, 1, ..., n_bins - 1 occurs in x.

    x: one axis, any stride, any integer dtype; it may be empty. Numbers below 0, and n_bins or
    above, are not counted. The result has the shape (n_bins,) and the dtype int32.
    """
    n_elements = x.numel()
    # Allocate the counts. The kernel adds to them, so what must they contain?
    ### BEGIN SOLUTION
    counts = torch.zeros((n_bins,), dtype=torch.int32, device=x.device)
    ### END SOLUTION
    if n_elements:
        block_size = 1024
        grid = (triton.cdiv(n_elements, block_size),)
        histogram_kernel[grid](x, counts, n_elements, n_bins, x.stride(0), BLOCK_SIZE=block_size)
    return counts


# %% cumsum
@triton.jit
def add(left, right):
    """Combine two neighbours of a scan."""
    return left + right


@triton.jit
def cumsum_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    """Compute the running sums of one row, block after block.

    Strides of x are counted in elements. The output is contiguous, with rows of n_cols.
    """
    # 1. Which row? Before the first block the sum is 0.
    # 2. For each block of the row: the columns, the mask, load in float32 with zeros outside.
    # 3. Scan the block with `tl.associative_scan(..., axis=0, combine_fn=add)`, and add the sum
    #    of the earlier blocks.
    # 4. Store in the dtype of the output. Then add the sum of the block to the carry.
    ### BEGIN SOLUTION
    # In 64 bits, because a stride can lead to an address more than 2**31 elements away.
    row = tl.program_id(axis=0).to(tl.int64)
    carried = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        x_ptrs = x_ptr + row * stride_row + cols * stride_col
        x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)
        sums = carried + tl.associative_scan(x, axis=0, combine_fn=add)
        output_ptrs = output_ptr + row * n_cols + cols
        tl.store(output_ptrs, sums.to(output_ptr.dtype.element_ty), mask=mask)
        carried += tl.sum(x, axis=0)
    ### END SOLUTION


def cumsum(x: torch.Tensor) -> torch.Tensor:
    """Return the running sums of each row: element j is the sum of the elements 0 to j.

    x: (m, n), any strides (float32, float16 or bfloat16). It is summed in float32. The result is
    a new contiguous tensor of the same shape and dtype.
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if output.numel() == 0:
        return output
    block_size = min(1024, max(16, triton.next_power_of_2(n_cols)))
    cumsum_kernel[(n_rows,)](
        x, output, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=block_size
    )  # fmt: skip
    return output


# %% split_k_matmul
@triton.jit
def split_k_matmul_kernel(
    a_ptr, b_ptr, sums_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, splits,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Add one part of the sum over k to one BLOCK_M x BLOCK_N tile.

    a has shape (M, K), b (K, N). sums is contiguous, (M, N), float32. Axis 2 of the grid
    selects one of the `splits` parts of k.
    """
    # 1. Which tile, and which blocks of k? Blocks number `part`, `part + splits`, ...
    # 2. A float32 accumulator full of zeros.
    # 3. Loop over these blocks of k as in lesson 08: zeros outside the matrices on every edge.
    #    float32 inputs need input_precision="ieee".
    # 4. Other programs add to this tile, too. Add the part of this program, under a mask.
    ### BEGIN SOLUTION
    # In 64 bits, because an address can be more than 2**31 elements away.
    offs_m = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(axis=1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(axis=2)
    mask_m = offs_m[:, None] < M
    mask_n = offs_n[None, :] < N
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_start in range(part * BLOCK_K, K, splits * BLOCK_K):
        offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
        b = tl.load(b_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    sums_ptrs = sums_ptr + offs_m[:, None] * N + offs_n[None, :]
    tl.atomic_add(sums_ptrs, accumulator, mask=mask_m & mask_n, sem="relaxed")
    ### END SOLUTION


def split_k_matmul(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    """Return a @ b, the sum over k shared by `splits` programs for each tile.

    a: (m, k), b: (k, n), any strides, of the same dtype (float32, float16 or bfloat16);
    splits >= 1. The result is a new contiguous tensor of shape (m, n) with the dtype of a. It is
    summed in float32, and exact to float32 for float32 inputs (no TF32).
    """
    m, k = a.shape
    n = b.shape[1]
    block_m, block_n, block_k = 64, 64, 32
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n), splits)
    # Allocate the sums. Which dtype do they need, and what must they contain?
    ### BEGIN SOLUTION
    sums = torch.zeros((m, n), dtype=torch.float32, device=a.device)
    ### END SOLUTION
    if m and n:
        split_k_matmul_kernel[grid](
            a, b, sums, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), splits,
            BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
        )  # fmt: skip
    return sums.to(a.dtype)
