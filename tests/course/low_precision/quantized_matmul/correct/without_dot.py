"""A program owns one row and a block of columns: products, and a sum over the block of k."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, n_cols, K, per_group, a_row, a_col,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        inside = (k < K)[:, None] & (cols < n_cols)[None, :]
        x = tl.load(a_ptr + row * a_row + k * a_col, mask=k < K, other=0.0).to(tl.float32)
        word = tl.load(b_ptr + (k >> 3)[:, None] * n_cols + cols[None, :], mask=inside, other=0)
        number = (word >> ((k & 7) << 2)[:, None]) & 0xF
        at = (k // per_group)[:, None] * n_cols + cols[None, :]
        scale = tl.load(s_ptr + at, mask=inside, other=0.0).to(tl.float32)
        zero = tl.load(z_ptr + at, mask=inside, other=0).to(tl.int32)
        weight = (number - zero).to(tl.float32) * scale
        total += tl.sum(x[:, None] * weight, axis=0)
    tl.store(c_ptr + row * n_cols + cols, total.to(c_ptr.dtype.element_ty), mask=cols < n_cols)


def quantized_matmul(a, packed_b, scales, zeros):
    rows, K = a.shape
    n_cols = packed_b.shape[1]
    out = torch.empty((rows, n_cols), dtype=a.dtype, device=a.device)
    row_kernel[(rows, triton.cdiv(n_cols, 64))](
        a, packed_b, scales, zeros, out, n_cols, K, K // scales.shape[0], a.stride(0), a.stride(1),
        BLOCK_N=64, BLOCK_K=128,
    )  # fmt: skip
    return out
