import torch
import triton
import triton.language as tl

@triton.jit
def transpose_kernel(x_ptr, y_ptr, M, N, sm, sn, BLOCK: tl.constexpr):
    tiles_n = tl.cdiv(N, BLOCK)
    tiles = tl.cdiv(M, BLOCK) * tiles_n
    for tile_id in range(tl.program_id(0), tiles, tl.num_programs(0)):
        m = (tile_id // tiles_n).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        n = (tile_id % tiles_n).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        mask = (m < M)[:, None] & (n < N)[None, :]
        x = tl.load(x_ptr + m[:, None] * sm + n[None, :] * sn, mask=mask)
        tl.store(y_ptr + m[:, None] + n[None, :] * M, x, mask=mask)


def transpose(x):
    M, N = x.shape
    y = torch.empty((N, M), dtype=x.dtype, device=x.device)
    transpose_kernel[(4,)](x, y, M, N, *x.stride(), BLOCK=32)
    return y
