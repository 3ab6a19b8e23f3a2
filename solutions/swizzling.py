"""Model solutions of the lesson on swizzling: which program takes which tile.

Programs run roughly in the order of their ids. If they take the tiles in groups of rows
instead of whole rows, programs that run at the same time share more of a and b.
"""

import torch
import triton
import triton.language as tl


# %% swizzle_ids
@triton.jit
def swizzle_ids_kernel(output_ptr, n_rows, n_cols, group):
    """Store the row and the column of the tile that this program would take.

    There are n_rows x n_cols tiles, and one program for each. The output is contiguous and has
    shape (n_rows * n_cols, 2).
    """
    # 1. The program's group of rows: a whole group has group x n_cols tiles.
    # 2. The first row of that group, and how many rows it has: the last group may be smaller.
    # 3. Within the group the row changes fastest, then the column.
    # 4. Store the row at 2 * pid, and the column after it.
    ### BEGIN SOLUTION
    pid = tl.program_id(axis=0)
    tiles_per_group = group * n_cols
    first_row = pid // tiles_per_group * group
    rows_in_group = tl.minimum(n_rows - first_row, group)
    pid_in_group = pid % tiles_per_group
    tl.store(output_ptr + 2 * pid, first_row + pid_in_group % rows_in_group)
    tl.store(output_ptr + 2 * pid + 1, pid_in_group // rows_in_group)
    ### END SOLUTION


def swizzle_ids(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    """Return which tile each program takes when the rows of tiles are grouped.

    n_rows, n_cols: how many rows and columns of tiles there are; group: how many rows of
    tiles make a group, 1 or more. The result is an int32 tensor of shape
    (n_rows * n_cols, 2): line `pid` is the row and the column of the tile of program pid.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int32, device=device)
    grid = (n_rows * n_cols,)
    swizzle_ids_kernel[grid](output, n_rows, n_cols, group)
    return output


# %% grouped_matmul
@triton.jit
def grouped_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    """Compute one BLOCK_M x BLOCK_N tile of c = a @ b, with tiles ordered in groups of rows.

    a has shape (M, K), b (K, N), c (M, N). Strides are counted in elements. The grid has one
    axis: a program computes its tile from its id.
    """
    # 1. The row and the column of the program's tile, grouped as in swizzle_ids.
    # 2. The rest is the matmul of lesson 08: offsets, accumulator, loop, store.
    ### BEGIN SOLUTION
    pid = tl.program_id(axis=0)
    tiles_per_group = GROUP * tl.cdiv(N, BLOCK_N)
    first_row = pid // tiles_per_group * GROUP
    rows_in_group = tl.minimum(tl.cdiv(M, BLOCK_M) - first_row, GROUP)
    pid_in_group = pid % tiles_per_group
    pid_m = first_row + pid_in_group % rows_in_group
    pid_n = pid_in_group // rows_in_group

    # In 64 bits, because an offset can exceed 2**31 elements.
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m[:, None] < M
    mask_n = offs_n[None, :] < N
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_start in range(0, K, BLOCK_K):
        offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
        b = tl.load(b_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=mask_m & mask_n)
    ### END SOLUTION


def grouped_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b, computed in an order that reuses data in the cache.

    a: (m, k), b: (k, n), any strides, of the same dtype (float32, float16 or bfloat16).
    The result is a new contiguous tensor of shape (m, n) with the dtype of a. It is summed
    in float32, and exact to float32 for float32 inputs (no TF32).
    """
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    block_m, block_n, block_k = 64, 64, 32
    grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
    grouped_matmul_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        *c.stride(),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
        GROUP=8,
    )
    return c
