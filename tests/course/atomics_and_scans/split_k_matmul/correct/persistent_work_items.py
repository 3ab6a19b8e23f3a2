import torch
import triton
import triton.language as tl


@triton.jit
def load_tile(ptr, rows, cols, n_rows, n_cols, stride_row, stride_col):
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    return tl.load(
        ptr + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=mask, other=0.0
    )


@triton.jit
def kernel(
    a_ptr, b_ptr, sums_ptr, M, N, K, sam, sak, sbk, sbn, splits,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A program takes one pair of tile and part after another."""
    tiles_n = tl.cdiv(N, BLOCK_N)
    items = tl.cdiv(M, BLOCK_M) * tiles_n * splits
    for item in range(tl.program_id(0), items, tl.num_programs(0)):
        tile, part = item // splits, item % splits
        rows = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for block in range(part, tl.cdiv(K, BLOCK_K), splits):
            inner = block * BLOCK_K + tl.arange(0, BLOCK_K)
            a = load_tile(a_ptr, rows, inner, M, K, sam, sak)
            b = load_tile(b_ptr, inner, cols, K, N, sbk, sbn)
            acc += tl.dot(a, b, input_precision="ieee")
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        tl.atomic_add(sums_ptr + rows[:, None] * N + cols[None, :], acc, mask=mask)


def split_k_matmul(a, b, splits):
    m, k = a.shape
    n = b.shape[1]
    sums = torch.zeros((m, n), dtype=torch.float32, device=a.device)
    items = triton.cdiv(m, 32) * triton.cdiv(n, 64) * splits
    if items:
        kernel[(min(132, items),)](
            a, b, sums, m, n, k, *a.stride(), *b.stride(), splits,
            BLOCK_M=32, BLOCK_N=64, BLOCK_K=16,
        )  # fmt: skip
    return sums.to(a.dtype)
