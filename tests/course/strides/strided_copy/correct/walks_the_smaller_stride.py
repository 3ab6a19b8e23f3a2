import torch
import triton
import triton.language as tl


@triton.jit
def tile_copy(x_ptr, y_ptr, M, N, sxm, sxn, sym, syn, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    rn = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tile = tl.load(x_ptr + rm[:, None] * sxm + rn[None, :] * sxn, mask=mask)
    tl.store(y_ptr + rm[:, None] * sym + rn[None, :] * syn, tile, mask=mask)


def strided_copy(x):
    M, N = x.shape
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    src, dst = x, y
    if x.stride(0) < x.stride(1):  # let the inner axis of the tile follow memory
        src, dst = x.T, y.T
    M, N = src.shape
    tile_copy[(triton.cdiv(M, 16), triton.cdiv(N, 16))](
        src, dst, M, N, *src.stride(), *dst.stride(), BM=16, BN=16
    )
    return y
