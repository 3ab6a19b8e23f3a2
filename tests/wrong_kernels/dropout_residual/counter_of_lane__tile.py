"""The mask of a tile is counted from the tile's own corner."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(
    x_ptr, r_ptr, y_ptr, m, n, xs_m, xs_n, rs_m, rs_n, p, seed,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < m) & (cols < n)
    x = tl.load(x_ptr + rows * xs_m + cols * xs_n, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + rows * rs_m + cols * rs_n, mask=mask, other=0.0).to(tl.float32)
    number = tl.rand(seed, tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :])
    y = tl.where(number >= p, x / (1 - p) + r, r)
    tl.store(y_ptr + rows * n + cols, y.to(y_ptr.dtype.element_ty), mask=mask)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    if x.dim() != 2:
        x = x.contiguous().view(-1, x.shape[-1])
        residual = residual.contiguous().view(-1, residual.shape[-1])
    m, n = x.shape
    tile_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 32))](
        x, residual, y, m, n, *x.stride(), *residual.stride(), p, seed, BLOCK_M=16, BLOCK_N=32
    )
    return y
