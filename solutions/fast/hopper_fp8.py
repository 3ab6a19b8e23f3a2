"""Products of 8-bit numbers for Hopper GPUs: the design of hopper_matmul.py with exact sums.

The tensor cores add 8-bit products up with some 14 bits. So that no more than 128 products are
summed with so few, each step of 128 has an accumulator of its own, which is then added in float32.
That takes registers, and time in which the tensor cores would wait. Here

- one warp loads, and two groups of four warps multiply, each 64 rows of a 128 x 256 tile;
- a group has its 256 columns in two halves, one after the other, so that the accumulator of a
  step needs 64 registers of a thread beside the 128 of the sums;
- while one half is added, the tensor cores multiply for the other half, or for the other group.
"""

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

from solutions.fast.hopper import describe, new_barriers, processors_of, tma_load, tma_store
from solutions.fast.hopper_matmul import MAX_REGISTERS, tile_of

BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 128
STAGES = 4  # of 48 KiB each; with the 32 KiB of the result that is what shared memory holds
GROUP = 16  # rows of tiles that are taken together: 16 x 8 of them, a square, are computed at once


@gluon.jit
def load_tiles(
    a_desc, b_desc, a_upper, a_lower, b_left, b_right, ready, empty, M, N, K,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, GROUP: gl.constexpr,
    STAGES: gl.constexpr,
):  # fmt: skip
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
            mbarrier.expect(filled, (BLOCK_M + BLOCK_N) * BLOCK_K)
            tma_load(a_desc, [row, k], filled, a_upper.index(stage))
            tma_load(a_desc, [row + BLOCK_M // 2, k], filled, a_lower.index(stage))
            tma_load(b_desc, [col, k], filled, b_left.index(stage))
            tma_load(b_desc, [col + BLOCK_N // 2, k], filled, b_right.index(stage))
            step += 1


@gluon.jit
def start_product(a, b, zeros):
    """Start to compute a @ b.T of one step."""
    return warpgroup_mma(a, b.permute((1, 0)), zeros, use_acc=False, is_async=True)


@gluon.jit
def store_scaled(sums, row, col, scale_a_ptr, scale_b_ptr, c_desc, c_tile, M, N):
    """Store sums, each row times its scale of a, each column times its scale of b."""
    rows = row + gl.arange(0, sums.shape[0], gl.SliceLayout(1, sums.type.layout))
    cols = col + gl.arange(0, sums.shape[1], gl.SliceLayout(0, sums.type.layout))
    scale_a = gl.load(scale_a_ptr + rows, mask=rows < M, other=0.0)
    scale_b = gl.load(scale_b_ptr + cols, mask=cols < N, other=0.0)
    c = sums * gl.expand_dims(scale_a, 1) * gl.expand_dims(scale_b, 0)
    tma.store_wait(0)  # until the tile before has left shared memory
    c_tile.store(c.to(c_desc.dtype))
    fence_async_shared()
    tma_store(c_desc, [row, col], c_tile)


@gluon.jit
def multiply_half_tiles(
    c_desc, scale_a_ptr, scale_b_ptr, a_tiles, b_left, b_right, c_tile, ready, empty, M, N, K,
    FIRST_ROW: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
    GROUP: gl.constexpr, STAGES: gl.constexpr,
):  # fmt: skip
    """Multiply, and store the half of each tile that begins at its row FIRST_ROW."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N // 2, 32])
    step = 0
    n_tiles = gl.cdiv(M, BLOCK_M) * gl.cdiv(N, BLOCK_N)
    zeros = gl.zeros((BLOCK_M // 2, BLOCK_N // 2), gl.float32, layout)
    for index in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
        row, col = tile_of(index, M, N, BLOCK_M, BLOCK_N, GROUP)
        left, right = zeros, zeros
        for _k in range(0, K, BLOCK_K):
            stage = step % STAGES
            mbarrier.wait(ready.index(stage), (step // STAGES) & 1)
            a = a_tiles.index(stage)
            of_left = start_product(a, b_left.index(stage), zeros)
            of_left = warpgroup_mma_wait(0, deps=(of_left,))
            # The tensor cores have the right half to do while the left one is added.
            of_right = start_product(a, b_right.index(stage), zeros)
            left += of_left
            of_right = warpgroup_mma_wait(0, deps=(of_right,))
            mbarrier.arrive(empty.index(stage), count=1)
            right += of_right
            step += 1
        row += FIRST_ROW
        store_scaled(left, row, col, scale_a_ptr, scale_b_ptr, c_desc, c_tile, M, N)
        col += BLOCK_N // 2
        store_scaled(right, row, col, scale_a_ptr, scale_b_ptr, c_desc, c_tile, M, N)
    tma.store_wait(0)


@gluon.jit
def hopper_fp8_kernel(
    a_desc, b_desc, scale_a_ptr, scale_b_ptr, c_desc, M, N, K,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, GROUP: gl.constexpr,
    STAGES: gl.constexpr,
):  # fmt: skip
    """Compute (a @ b.T) * scale_a[:, None] * scale_b[None, :]; 4 + 4 warps multiply, 1 loads."""
    dtype: gl.constexpr = a_desc.dtype
    a_shape: gl.constexpr = [STAGES, BLOCK_M // 2, BLOCK_K]
    a_upper = gl.allocate_shared_memory(dtype, a_shape, a_desc.layout)
    a_lower = gl.allocate_shared_memory(dtype, a_shape, a_desc.layout)
    b_shape: gl.constexpr = [STAGES, BLOCK_N // 2, BLOCK_K]
    b_left = gl.allocate_shared_memory(dtype, b_shape, b_desc.layout)
    b_right = gl.allocate_shared_memory(dtype, b_shape, b_desc.layout)
    c_upper = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    c_lower = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    ready = new_barriers(STAGES, 1)
    empty = new_barriers(STAGES, 2)
    fence_async_shared()
    # fmt: off
    gl.warp_specialize(
        [
            (multiply_half_tiles,
             (c_desc, scale_a_ptr, scale_b_ptr, a_upper, b_left, b_right, c_upper, ready, empty,
              M, N, K, 0, BLOCK_M, BLOCK_N, BLOCK_K, GROUP, STAGES)),
            (multiply_half_tiles,
             (c_desc, scale_a_ptr, scale_b_ptr, a_lower, b_left, b_right, c_lower, ready, empty,
              M, N, K, BLOCK_M // 2, BLOCK_M, BLOCK_N, BLOCK_K, GROUP, STAGES)),
            (load_tiles,
             (a_desc, b_desc, a_upper, a_lower, b_left, b_right, ready, empty, M, N, K,
              BLOCK_M, BLOCK_N, BLOCK_K, GROUP, STAGES)),
        ],
        [4, 1],  # warps of the second and third part; the first has the kernel's own four
        [240, 24],  # and their registers: accumulating takes many, loading few
    )
    # fmt: on


def hopper_fp8_matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    group: int = GROUP,
) -> torch.Tensor:
    """Return (a @ b) * scale_a[:, None] * scale_b[None, :] in bfloat16.

    a: (m, k), contiguous rows; b: (k, n), contiguous columns, both float8_e4m3fn, whose rows and
    columns begin at multiples of 16 bytes; n a multiple of 8.
    """
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    n_tiles = triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    n_rounds = triton.cdiv(n_tiles, processors_of(a))
    hopper_fp8_kernel[(triton.cdiv(n_tiles, n_rounds),)](
        describe(a, [BLOCK_M // 2, BLOCK_K]),
        describe(b.T, [BLOCK_N // 2, BLOCK_K]),
        scale_a, scale_b,
        describe(c, [BLOCK_M // 2, BLOCK_N // 2]),
        m, n, k, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K, GROUP=group, STAGES=STAGES,
        num_warps=4, maxnreg=MAX_REGISTERS,
    )  # fmt: skip
    return c
