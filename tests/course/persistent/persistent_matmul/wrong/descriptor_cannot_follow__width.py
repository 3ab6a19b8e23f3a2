"""The length of a row is asked about, not the distance of rows."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def tile_of(index, tiles_m, tiles_n, GROUP: tl.constexpr):
    per_group = GROUP * tiles_n
    group = index // per_group
    first_m = group * GROUP
    height = tl.minimum(tiles_m - first_m, GROUP)
    inside = index % per_group
    return first_m + inside % height, inside // height


@triton.jit
def load_tile(source, row, col, n_rows, n_cols, row_stride, col_stride,
              DESC: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    if DESC:
        tile = source.load([row, col])
    else:
        r = row + tl.arange(0, ROWS)
        c = col + tl.arange(0, COLS)
        at = source + r[:, None].to(tl.int64) * row_stride + c[None, :].to(tl.int64) * col_stride
        tile = tl.load(at, mask=(r[:, None] < n_rows) & (c[None, :] < n_cols), other=0.0)
    return tile


@triton.jit
def store_tile(target, tile, row, col, n_rows, n_cols, DESC: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    if DESC:
        target.store([row, col], tile.to(target.dtype))
    else:
        r = row + tl.arange(0, ROWS)
        c = col + tl.arange(0, COLS)
        at = target + r[:, None].to(tl.int64) * n_cols + c[None, :]
        tl.store(at, tile.to(target.dtype.element_ty), mask=(r[:, None] < n_rows) & (c[None, :] < n_cols))


@triton.jit
def persistent_kernel(
    a, b, c, m, n, k, a_strides, b_strides,
    A_DESC: tl.constexpr, B_DESC: tl.constexpr, C_DESC: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    for index in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        tile_m, tile_n = tile_of(index, tiles_m, tiles_n, GROUP)
        row = tile_m * BLOCK_M
        col = tile_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for step in range(0, k, BLOCK_K):
            left = load_tile(a, row, step, m, k, a_strides[0], a_strides[1], A_DESC, BLOCK_M, BLOCK_K)
            right = load_tile(b, step, col, k, n, b_strides[0], b_strides[1], B_DESC, BLOCK_K, BLOCK_N)
            acc = tl.dot(left, right, acc, input_precision="ieee")
        store_tile(c, acc, row, col, m, n, C_DESC, BLOCK_M, BLOCK_N)


def can_describe(x):
    """May a tensor descriptor describe this matrix?"""
    size = x.element_size()
    if x.numel() == 0 or x.stride(1) != 1:
        return False
    if x.stride(0) < x.shape[1] or x.shape[1] * size % 16 != 0:
        return False
    return x.data_ptr() % 16 == 0


def programs_at_most(device):
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).multi_processor_count
    return 132


def persistent_matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    if m == 0 or n == 0:
        return c
    if k == 0:
        return c.zero_()
    BLOCK_M, BLOCK_N, BLOCK_K = 32, 32, 32
    tiles = triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    grid = (min(tiles, programs_at_most(a.device)),)
    a_desc, b_desc, c_desc = can_describe(a), can_describe(b), can_describe(c)
    a_arg = TensorDescriptor.from_tensor(a, [BLOCK_M, BLOCK_K]) if a_desc else a
    b_arg = TensorDescriptor.from_tensor(b, [BLOCK_K, BLOCK_N]) if b_desc else b
    c_arg = TensorDescriptor.from_tensor(c, [BLOCK_M, BLOCK_N]) if c_desc else c
    persistent_kernel[grid](
        a_arg, b_arg, c_arg, m, n, k, a.stride(), b.stride(),
        A_DESC=a_desc, B_DESC=b_desc, C_DESC=c_desc,
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K, GROUP=8,
    )
    return c
