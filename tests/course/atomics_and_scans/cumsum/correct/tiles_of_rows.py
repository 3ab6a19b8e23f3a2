import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def tile_kernel(x_ptr, y_ptr, M, N, sm, sn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    carried = tl.zeros((BLOCK_M, 1), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        cols = (start + tl.arange(0, BLOCK_N))[None, :]
        mask = (rows < M) & (cols < N)
        x = tl.load(x_ptr + rows * sm + cols * sn, mask=mask, other=0).to(tl.float32)
        y = tl.associative_scan(x, axis=1, combine_fn=add) + carried
        tl.store(y_ptr + rows * N + cols, y.to(y_ptr.dtype.element_ty), mask=mask)
        carried += tl.sum(x, axis=1, keep_dims=True)


def cumsum(x):
    m, n = x.shape
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if y.numel():
        tile_kernel[(triton.cdiv(m, 16),)](x, y, m, n, x.stride(0), x.stride(1), BLOCK_M=16, BLOCK_N=64)
    return y
