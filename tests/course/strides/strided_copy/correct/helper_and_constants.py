import torch
import triton
import triton.language as tl
from triton import cdiv

ROWS_PER_TILE = 8
COLUMNS_PER_TILE = 128


@triton.jit
def address(base, rows, columns, stride_row, stride_column):
    """A tile of pointers."""
    return base + rows[:, None] * stride_row + columns[None, :] * stride_column


@triton.jit
def tile_range(axis: tl.constexpr, size: tl.constexpr):
    return tl.program_id(axis).to(tl.int64) * size + tl.arange(0, size)


@triton.jit
def kernel(x_ptr, out_ptr, height, width, sxr, sxc, sor, soc, R: tl.constexpr, C: tl.constexpr):
    rows = tile_range(0, R)
    columns = tile_range(1, C)
    valid = (rows < height)[:, None] & (columns < width)[None, :]
    tile = tl.load(address(x_ptr, rows, columns, sxr, sxc), valid)
    tl.store(address(out_ptr, rows, columns, sor, soc), tile, valid)


def strided_copy(x):
    assert x.dim() == 2, f"expected a matrix, got {x.dim()} dimensions"
    height, width = x.shape
    out = torch.zeros(height, width, dtype=x.dtype, device=x.device)
    grid = (cdiv(height, ROWS_PER_TILE), cdiv(width, COLUMNS_PER_TILE))
    kernel[grid](
        x, out, height, width, x.stride(0), x.stride(1), out.stride(0), out.stride(1),
        R=ROWS_PER_TILE, C=COLUMNS_PER_TILE,
    )
    return out
