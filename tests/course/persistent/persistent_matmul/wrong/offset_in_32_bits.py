"""Rows and columns are numbered in 32 bits."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

PROCESSORS = 132
GROUP = 8


@triton.jit
def tile_of(index, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    tiles_per_group = GROUP * tl.cdiv(N, BLOCK_N)
    first = index // tiles_per_group * GROUP
    rows_in_group = tl.minimum(tl.cdiv(M, BLOCK_M) - first, GROUP)
    index_in_group = index % tiles_per_group
    row = first + index_in_group % rows_in_group
    return row * BLOCK_M, index_in_group // rows_in_group * BLOCK_N


@triton.jit
def load_tile(
    source, row, col, shape, strides,
    HEIGHT: tl.constexpr, WIDTH: tl.constexpr, DESCRIBED: tl.constexpr,
):
    if DESCRIBED:
        tile = source.load([row, col])
    else:
        rows = row + tl.arange(0, HEIGHT)[:, None]
        cols = col + tl.arange(0, WIDTH)[None, :]
        inside = (rows < shape[0]) & (cols < shape[1])
        tile = tl.load(source + rows * strides[0] + cols * strides[1], mask=inside, other=0.0)
    return tile


@triton.jit
def store_tile(
    target, row, col, shape, strides, tile,
    HEIGHT: tl.constexpr, WIDTH: tl.constexpr, DESCRIBED: tl.constexpr,
):
    if DESCRIBED:
        target.store([row, col], tile.to(target.dtype))
    else:
        rows = row + tl.arange(0, HEIGHT).to(tl.int64)[:, None]
        cols = col + tl.arange(0, WIDTH).to(tl.int64)[None, :]
        inside = (rows < shape[0]) & (cols < shape[1])
        ptrs = target + rows * strides[0] + cols * strides[1]
        tl.store(ptrs, tile.to(target.dtype.element_ty), mask=inside)


@triton.jit
def persistent_matmul_kernel(
    a, b, c, M, N, K, a_strides, b_strides, c_strides,
    A_DESCRIBED: tl.constexpr, B_DESCRIBED: tl.constexpr, C_DESCRIBED: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):
    n_tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for index in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        row, col = tile_of(index, M, N, BLOCK_M, BLOCK_N, GROUP)
        sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in tl.range(0, K, BLOCK_K):
            x = load_tile(a, row, k, (M, K), a_strides, BLOCK_M, BLOCK_K, A_DESCRIBED)
            y = load_tile(b, k, col, (K, N), b_strides, BLOCK_K, BLOCK_N, B_DESCRIBED)
            sums = tl.dot(x, y, sums, input_precision="ieee")
        store_tile(c, row, col, (M, N), c_strides, sums, BLOCK_M, BLOCK_N, C_DESCRIBED)


def can_describe(x: torch.Tensor) -> bool:
    size = x.element_size()
    return (
        x.numel() > 0
        and x.stride(1) == 1
        and x.stride(0) * size % 16 == 0
        and x.stride(0) >= x.shape[1]
        and x.data_ptr() % 16 == 0
    )


def persistent_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if c.numel() == 0:
        return c
    block_m, block_n, block_k = 64, 64, 32
    blocks = ([block_m, block_k], [block_k, block_n], [block_m, block_n])
    described = [bool(can_describe(x)) for x in (a, b, c)]
    sources = [
        TensorDescriptor.from_tensor(x, block) if flag else x
        for x, block, flag in zip((a, b, c), blocks, described, strict=True)
    ]
    processors = PROCESSORS
    if a.is_cuda:
        processors = torch.cuda.get_device_properties(a.device).multi_processor_count
    tiles = triton.cdiv(m, block_m) * triton.cdiv(n, block_n)
    persistent_matmul_kernel[(min(processors, tiles),)](
        *sources, m, n, k, a.stride(), b.stride(), c.stride(), *described,
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=GROUP,
    )
    return c
