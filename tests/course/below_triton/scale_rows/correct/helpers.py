"""Helper functions that are kernels themselves; blocks of eight warps."""

import torch
import triton
import triton.language as tl


@triton.jit
def rounded(n, VECTOR: tl.constexpr):
    """n, which is a multiple of VECTOR, so that the compiler sees it."""
    return n // VECTOR * VECTOR


@triton.jit
def tile_of(first, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = first + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    return rows, rows[:, None] * n + cols[None, :], mask


@triton.jit
def scale_kernel(x_ptr, s_ptr, output_ptr, shape, VECTOR: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m, n = shape
    rows, offsets, mask = tile_of(tl.program_id(0) * BM, m, rounded(n, VECTOR), BM, BN)
    s = tl.load(s_ptr + rows, mask=rows < m)
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, s[:, None] * x, mask=mask)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    vector = 16 // x.element_size()
    vector = vector if n % vector == 0 else 1
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 128))
    scale_kernel[grid](x, s, output, (m, n), VECTOR=vector, BM=32, BN=128, num_warps=8)
    return output
