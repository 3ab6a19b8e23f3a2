"""Fast form of the grouped product: large tiles by descriptors, and programs that stay.

Why the plain form cannot reach cuBLAS: tiles of 32 x 64 read each weight from the cache for only
32 rows. Here tiles have 128 rows and 256 columns, and arrive by TMA. The descriptors know nothing
of experts: a tile at the end of one reads rows of the next, and what it computes of them is not
stored. Stores are therefore by pointers, with a mask that ends with the expert.

As many programs as the GPU has multiprocessors stay, and take one tile after another. The tiles
of an expert that share columns of its matrix follow one another, so that these are read once.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from solutions import experts as plain
from solutions.fast.hopper import is_hopper, processors_of, tma_can_read

TILE = (128, 256, 64)
NUM_WARPS, STAGES, FLAT = 8, 3, True


@triton.jit
def place_of_tile(
    tile, offsets_ptr, n_experts, tiles_n, EXPERTS: tl.constexpr, BLOCK_M: tl.constexpr
):  # fmt: skip
    """Return expert, first row, end of the expert's rows and column of tiles of a tile."""
    experts = tl.arange(0, EXPERTS)
    starts = tl.load(offsets_ptr + experts, mask=experts < n_experts, other=0)
    ends = tl.load(offsets_ptr + experts + 1, mask=experts < n_experts, other=0)
    tiles_m = tl.cdiv(ends - starts, BLOCK_M)
    expert = tl.sum((tl.cumsum(tiles_m * tiles_n) <= tile).to(tl.int32))
    before = tl.sum(tl.where(experts < expert, tiles_m, 0)) * tiles_n
    mine = experts == expert
    rows_of_tiles = tl.maximum(tl.sum(tl.where(mine, tiles_m, 0)), 1)
    start, end = tl.sum(tl.where(mine, starts, 0)), tl.sum(tl.where(mine, ends, 0))
    index = tile - before
    return expert, start + index % rows_of_tiles * BLOCK_M, end, index // rows_of_tiles


@triton.jit
def tiles_in_all(
    offsets_ptr, n_experts, tiles_n, EXPERTS: tl.constexpr, BLOCK_M: tl.constexpr
):  # fmt: skip
    """Return how many tiles all experts have together."""
    experts = tl.arange(0, EXPERTS)
    starts = tl.load(offsets_ptr + experts, mask=experts < n_experts, other=0)
    ends = tl.load(offsets_ptr + experts + 1, mask=experts < n_experts, other=0)
    return tl.sum(tl.cdiv(ends - starts, BLOCK_M)) * tiles_n


@triton.jit
def described_grouped_gemm_kernel(
    x_desc, w_desc, output_ptr, offsets_ptr, n_experts, N, K, EXPERTS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, FLAT: tl.constexpr,
):  # fmt: skip
    """Compute every P-th tile, beginning with the program's own number; P programs."""
    tiles_n = tl.cdiv(N, BLOCK_N)
    n_tiles = tiles_in_all(offsets_ptr, n_experts, tiles_n, EXPERTS, BLOCK_M)
    n_steps = tl.cdiv(K, BLOCK_K)
    for tile in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0), flatten=FLAT):
        expert, row, end, col = place_of_tile(
            tile, offsets_ptr, n_experts, tiles_n, EXPERTS, BLOCK_M
        )
        col = col * BLOCK_N
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for i in range(n_steps):
            x = x_desc.load([row, i * BLOCK_K])
            w = w_desc.load([expert, i * BLOCK_K, col]).reshape(BLOCK_K, BLOCK_N)
            accumulator = tl.dot(x, w, accumulator)
        # In 64 bits, because an address can lie more than 2**31 elements away.
        offs_m = row + tl.arange(0, BLOCK_M).to(tl.int64)[:, None]
        offs_n = col + tl.arange(0, BLOCK_N)[None, :]
        tl.store(
            output_ptr + offs_m * N + offs_n, accumulator.to(output_ptr.dtype.element_ty),
            mask=(offs_m < end) & (offs_n < N),
        )  # fmt: skip


# %% grouped_gemm
def grouped_gemm(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Return x @ w[i] for the rows of each expert; the contract is that of the plain form."""
    if not (is_hopper(x) and tma_can_read(x) and tma_can_read(w)):
        return plain.grouped_gemm(x, w, offsets)
    return launch(x, w, offsets)


def launch(
    x: torch.Tensor,
    w: torch.Tensor,
    offsets: torch.Tensor,
    tile: tuple[int, int, int] = TILE,
    num_warps: int = NUM_WARPS,
    stages: int = STAGES,
    flat: bool = FLAT,
) -> torch.Tensor:
    """Launch with these sizes."""
    n_experts, k, n = w.shape
    output = torch.empty((x.shape[0], n), dtype=x.dtype, device=x.device)
    block_m, block_n, block_k = tile
    most_tiles = (triton.cdiv(x.shape[0], block_m) + n_experts) * triton.cdiv(n, block_n)
    described_grouped_gemm_kernel[(min(processors_of(x), most_tiles),)](
        TensorDescriptor.from_tensor(x, [block_m, block_k]),
        TensorDescriptor.from_tensor(w, [1, block_k, block_n]),
        output, offsets, n_experts, n, k, EXPERTS=triton.next_power_of_2(n_experts),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, FLAT=flat,
        num_warps=num_warps, num_stages=stages,
    )  # fmt: skip
    return output
