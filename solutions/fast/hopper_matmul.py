"""Matrix multiplication at the speed of cuBLAS, for half precision on Hopper GPUs.

Why the plain form cannot reach it: there, the same warps load, multiply and store in turn,
and the tensor cores wait whenever a tile of the result is finished and written. Here

- one warp does nothing but load (TMA): it runs up to STAGES steps ahead, across tiles;
- two groups of four warps multiply, each the half of a 128 x 256 tile that its registers can
  hold. While one of them stores its half, the other still multiplies;
- no more programs than there are multiprocessors stay for the whole launch and take one tile
  after another, in groups of rows as in the lesson on swizzling. All of them take equally many:
  where 132 need four rounds, so do 128, and the tiles of a round then form a rectangle, which
  reads the fewest rows and columns.

The three talk through barriers in shared memory: `ready` says that a stage has been filled,
`empty` that both groups have done with it.
"""

from typing import Any

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from solutions.fast.hopper import (
    describe,
    is_hopper,
    new_barriers,
    processors_of,
    tma_can_read,
    tma_load,
    tma_store,
)

BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
STAGES = 3  # of 48 KiB each; with the 64 KiB of the result that is what shared memory holds
GROUP = 8  # rows of tiles that are taken together
# 12 warps share the registers; those that multiply then take what the loading one gives back.
MAX_REGISTERS = 168


@gluon.jit
def tile_of(index, M, N, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, GROUP: gl.constexpr):
    """Return the first row and the first column of tile number `index`, in grouped order."""
    tiles_per_group = GROUP * gl.cdiv(N, BLOCK_N)
    first_row = index // tiles_per_group * GROUP
    rows_in_group = gl.minimum(gl.cdiv(M, BLOCK_M) - first_row, GROUP)
    index_in_group = index % tiles_per_group
    row = first_row + index_in_group % rows_in_group
    return row * BLOCK_M, index_in_group // rows_in_group * BLOCK_N


@gluon.jit
def load_tiles(
    a_desc,
    b_desc,
    a_upper,
    a_lower,
    b_tiles,
    ready,
    empty,
    M,
    N,
    K,
    BLOCK_M: gl.constexpr,
    BLOCK_N: gl.constexpr,
    BLOCK_K: gl.constexpr,
    GROUP: gl.constexpr,
    STAGES: gl.constexpr,
    B_TRANSPOSED: gl.constexpr,
):
    """Load, step after step and tile after tile, whatever stage is empty."""
    step = 0
    n_tiles = gl.cdiv(M, BLOCK_M) * gl.cdiv(N, BLOCK_N)
    for index in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
        row, col = tile_of(index, M, N, BLOCK_M, BLOCK_N, GROUP)
        for k in range(0, K, BLOCK_K):
            stage = step % STAGES
            # A new barrier counts as open for the phase before the first: nothing to wait for.
            mbarrier.wait(empty.index(stage), ((step // STAGES) & 1) ^ 1)
            filled = ready.index(stage)
            mbarrier.expect(filled, (BLOCK_M + BLOCK_N) * BLOCK_K * 2)
            tma_load(a_desc, [row, k], filled, a_upper.index(stage))
            tma_load(a_desc, [row + BLOCK_M // 2, k], filled, a_lower.index(stage))
            if B_TRANSPOSED:
                tma_load(b_desc, [col, k], filled, b_tiles.index(stage))
            else:
                tma_load(b_desc, [k, col], filled, b_tiles.index(stage))
            step += 1


@gluon.jit
def multiply_half_tiles(
    c_desc,
    bias_ptr,
    a_tiles,
    b_tiles,
    c_tile,
    ready,
    empty,
    M,
    N,
    K,
    FIRST_ROW: gl.constexpr,
    BLOCK_M: gl.constexpr,
    BLOCK_N: gl.constexpr,
    BLOCK_K: gl.constexpr,
    GROUP: gl.constexpr,
    STAGES: gl.constexpr,
    B_TRANSPOSED: gl.constexpr,
    BIAS_RELU: gl.constexpr,
):
    """Multiply, and store the half of each tile that begins at its row FIRST_ROW."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    step = 0
    n_tiles = gl.cdiv(M, BLOCK_M) * gl.cdiv(N, BLOCK_N)
    for index in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
        row, col = tile_of(index, M, N, BLOCK_M, BLOCK_N, GROUP)
        accumulator = gl.zeros((BLOCK_M // 2, BLOCK_N), gl.float32, layout)
        for k in range(0, K, BLOCK_K):
            stage = step % STAGES
            mbarrier.wait(ready.index(stage), (step // STAGES) & 1)
            b = b_tiles.index(stage)
            if B_TRANSPOSED:
                b = b.permute((1, 0))
            running = warpgroup_mma(
                a_tiles.index(stage), b, accumulator, use_acc=k > 0, is_async=True
            )
            accumulator = warpgroup_mma_wait(1, deps=(running,))
            # This product may still run, the one before it is done: its stage is free.
            mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES), count=1, pred=k > 0)
            step += 1
        accumulator = warpgroup_mma_wait(0, deps=(accumulator,))
        mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES), count=1)
        if BIAS_RELU:
            cols = col + gl.arange(0, BLOCK_N, gl.SliceLayout(0, layout))
            bias = gl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(gl.float32)
            accumulator = gl.maximum(accumulator + gl.expand_dims(bias, 0), 0.0)
        tma.store_wait(0)  # until the tile before has left shared memory
        c_tile.store(accumulator.to(c_desc.dtype))
        fence_async_shared()
        tma_store(c_desc, [row + FIRST_ROW, col], c_tile)
    tma.store_wait(0)


@gluon.jit
def hopper_matmul_kernel(
    a_desc,
    b_desc,
    c_desc,
    bias_ptr,
    M,
    N,
    K,
    BLOCK_M: gl.constexpr,
    BLOCK_N: gl.constexpr,
    BLOCK_K: gl.constexpr,
    GROUP: gl.constexpr,
    STAGES: gl.constexpr,
    B_TRANSPOSED: gl.constexpr,
    BIAS_RELU: gl.constexpr,
):
    """Compute c = a @ b, or relu(a @ b + bias), with 4 + 4 warps that multiply and 1 that loads."""
    dtype: gl.constexpr = a_desc.dtype
    a_shape: gl.constexpr = [STAGES, BLOCK_M // 2, BLOCK_K]
    a_upper = gl.allocate_shared_memory(dtype, a_shape, a_desc.layout)
    a_lower = gl.allocate_shared_memory(dtype, a_shape, a_desc.layout)
    # (Gluon reads no starred lists.)
    b_shape: gl.constexpr = [STAGES] + b_desc.block_type.shape  # noqa: RUF005
    b_tiles = gl.allocate_shared_memory(dtype, b_shape, b_desc.layout)
    c_upper = gl.allocate_shared_memory(dtype, c_desc.block_type.shape, c_desc.layout)
    c_lower = gl.allocate_shared_memory(dtype, c_desc.block_type.shape, c_desc.layout)
    ready = new_barriers(STAGES, 1)
    empty = new_barriers(STAGES, 2)
    fence_async_shared()
    # fmt: off
    gl.warp_specialize(
        [
            (multiply_half_tiles,
             (c_desc, bias_ptr, a_upper, b_tiles, c_upper, ready, empty, M, N, K, 0,
              BLOCK_M, BLOCK_N, BLOCK_K, GROUP, STAGES, B_TRANSPOSED, BIAS_RELU)),
            (multiply_half_tiles,
             (c_desc, bias_ptr, a_lower, b_tiles, c_lower, ready, empty, M, N, K, BLOCK_M // 2,
              BLOCK_M, BLOCK_N, BLOCK_K, GROUP, STAGES, B_TRANSPOSED, BIAS_RELU)),
            (load_tiles,
             (a_desc, b_desc, a_upper, a_lower, b_tiles, ready, empty, M, N, K,
              BLOCK_M, BLOCK_N, BLOCK_K, GROUP, STAGES, B_TRANSPOSED)),
        ],
        [4, 1],  # warps of the second and third part; the first has the kernel's own four
        [232, 40],  # and their registers: accumulating takes many, loading few
    )
    # fmt: on


def can_multiply(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether `hopper_matmul` can take a and b as they lie in memory."""
    # The rows of the result must be whole multiples of 16 bytes as well.
    readable = tma_can_read(a) and (tma_can_read(b) or tma_can_read(b.mT))
    return is_hopper(a) and readable and b.shape[1] % 8 == 0


def hopper_matmul(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Return a @ b, or relu(a @ b + bias) where a bias is given.

    a: (m, k), b: (k, n), of the same dtype (float16 or bfloat16), such that
    `can_multiply(a, b)`; bias: (n,), contiguous. The result is a new contiguous (m, n) tensor.
    """
    return launch(hopper_matmul_kernel, a, b, bias, GROUP=GROUP, num_warps=4, maxnreg=MAX_REGISTERS)


def launch(
    kernel: Any,
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None,
    c: torch.Tensor | None = None,
    **meta: int,
) -> torch.Tensor:
    """Launch `kernel`, which is hopper_matmul_kernel or an autotuner around it.

    c: where the result goes, with rows that start at multiples of 16 bytes; new and contiguous
    if there is none.
    """
    m, k = a.shape
    n = b.shape[1]
    if c is None:
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    transposed = not tma_can_read(b)
    b_desc = describe(b.mT, [BLOCK_N, BLOCK_K]) if transposed else describe(b, [BLOCK_K, BLOCK_N])
    n_tiles = triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    n_rounds = triton.cdiv(n_tiles, processors_of(a))
    kernel[(triton.cdiv(n_tiles, n_rounds),)](
        describe(a, [BLOCK_M // 2, BLOCK_K]),
        b_desc,
        describe(c, [BLOCK_M // 2, BLOCK_N]),
        a if bias is None else bias,
        m,
        n,
        k,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        STAGES=STAGES,
        B_TRANSPOSED=transposed,
        BIAS_RELU=bias is not None,
        **meta,
    )
    return c
