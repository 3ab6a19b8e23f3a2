"""Model solution of the lesson on experts: groups of unequal size in one launch."""

import torch
import triton
import triton.language as tl


# %% grouped_gemm
@triton.jit
def rows_of_tile(
    tile, offsets_ptr, n_experts, EXPERTS: tl.constexpr, BLOCK_M: tl.constexpr
):  # fmt: skip
    """Return the expert of tile number `tile`, the tile's first row, and the end of its expert.

    Tiles of BLOCK_M rows are counted expert after expert, from 0 on. Where there is no such tile,
    the expert is n_experts or more. EXPERTS: a power of two, n_experts or more.
    """
    # 1. Load the first row and the end of the rows of each expert, as blocks of EXPERTS lanes.
    #    Lanes past the last expert have no rows: load 0 there for both.
    # 2. Compute the number of tiles of each expert, and the prefix sums with `tl.cumsum`.
    # 3. The expert is the number of prefix sums that are <= tile.
    # 4. Which of its expert's tiles is it? Its first row is that times BLOCK_M after the
    #    expert's first row.
    ### BEGIN SOLUTION
    experts = tl.arange(0, EXPERTS)
    starts = tl.load(offsets_ptr + experts, mask=experts < n_experts, other=0)
    ends = tl.load(offsets_ptr + experts + 1, mask=experts < n_experts, other=0)
    tiles = tl.cdiv(ends - starts, BLOCK_M)
    expert = tl.sum((tl.cumsum(tiles) <= tile).to(tl.int32))
    tiles_before = tl.sum(tl.where(experts < expert, tiles, 0))
    start = tl.sum(tl.where(experts == expert, starts, 0))
    end = tl.sum(tl.where(experts == expert, ends, 0))
    row = start + (tile - tiles_before) * BLOCK_M
    ### END SOLUTION
    return expert, row, end


@triton.jit
def grouped_gemm_kernel(
    x_ptr, w_ptr, output_ptr, offsets_ptr, n_experts, N, K,
    stride_xm, stride_xk, stride_we, stride_wk, stride_wn, stride_om, stride_on,
    EXPERTS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Compute one BLOCK_M x BLOCK_N tile: rows of one expert, times that expert's matrix.

    x has shape (T, K), w (n_experts, K, N), the output (T, N). Strides are counted in elements.
    """
    # 1. Call `rows_of_tile` for tile `tl.program_id(0)`. If there is no such tile, do nothing.
    # 2. Compute the tile's rows, with a mask that ends where the *expert* ends, and its columns.
    # 3. Loop over K as in matmul, with the expert's own matrix in w.
    # 4. Store the accumulator in the dtype of the output, under both masks.
    ### BEGIN SOLUTION
    expert, row, end = rows_of_tile(
        tl.program_id(0), offsets_ptr, n_experts, EXPERTS, BLOCK_M
    )  # fmt: skip
    if expert < n_experts:
        # In 64 bits, because an address can be more than 2**31 elements away.
        offs_m = row + tl.arange(0, BLOCK_M).to(tl.int64)
        offs_n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
        mask_m = offs_m[:, None] < end
        mask_n = offs_n[None, :] < N
        w_ptr += expert.to(tl.int64) * stride_we
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k_start in range(0, K, BLOCK_K):
            offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
            x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
            w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
            x = tl.load(x_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
            w = tl.load(w_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
            accumulator = tl.dot(x, w, accumulator, input_precision="ieee")
        output_ptrs = output_ptr + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on
        tl.store(output_ptrs, accumulator.to(output_ptr.dtype.element_ty), mask=mask_m & mask_n)
    ### END SOLUTION


def grouped_gemm(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Return x @ w[i] for the rows offsets[i] to offsets[i + 1], for all experts i in one launch.

    x: (t, k), its rows ordered by expert; w: (e, k, n), any strides, of the same dtype (float32,
    float16 or bfloat16); offsets: (e + 1,) int32, contiguous, from 0 to t, never decreasing. The
    result is a new contiguous tensor of shape (t, n) with the dtype of x, summed in float32, and
    exact to float32 for float32 inputs (no TF32).
    """
    n_rows = x.shape[0]
    n_experts, k, n = w.shape
    output = torch.empty((n_rows, n), dtype=x.dtype, device=x.device)
    block_m, block_n, block_k = 32, 64, 32
    # The values of offsets are in GPU memory. Each expert has at most one tile that is not full.
    most_tiles = triton.cdiv(n_rows, block_m) + n_experts
    grid = (most_tiles, triton.cdiv(n, block_n))
    grouped_gemm_kernel[grid](
        x, w, output, offsets, n_experts, n, k, *x.stride(), *w.stride(), *output.stride(),
        EXPERTS=triton.next_power_of_2(n_experts),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
    )  # fmt: skip
    return output
