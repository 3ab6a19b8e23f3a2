import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(
    x_ptr, r_ptr, y_ptr, m, n, xs_m, xs_n, rs_m, rs_n, p, seed,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < m) & (cols < n)
    x = tl.load(x_ptr + rows * xs_m + cols * xs_n, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + rows * rs_m + cols * rs_n, mask=mask, other=0.0).to(tl.float32)
    element = rows * n + cols
    y = tl.where(tl.rand(seed, element) >= p, x / (1 - p) + r, r)
    tl.store(y_ptr + element, y.to(y_ptr.dtype.element_ty), mask=mask)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    if x.dim() != 2:
        # Of any other tensor a matrix whose rows are those of its last axis.
        x = x.contiguous().view(-1, x.shape[-1])
        residual = residual.contiguous().view(-1, residual.shape[-1])
    m, n = x.shape
    # The columns on axis 0, where a GPU has no limit that a vector would reach.
    tile_kernel[(triton.cdiv(n, 64), triton.cdiv(m, 16))](
        x, residual, y, m, n, *x.stride(), *residual.stride(), p, seed, BLOCK_M=16, BLOCK_N=64
    )
    return y
