"""Products with too few tiles for the GPU: the sum over k is shared out (split k).

A product of 64 rows, or one of 512 x 512 with a long k, has fewer large tiles than the GPU has
multiprocessors. Smaller tiles would be more, but each number would be read more often. Here a
tile stays large, and `splits` programs each take a part of k, so that all multiprocessors read at
once. They write their sums side by side, and a second, short kernel adds them up: the same result
in each run, unlike atomic additions, and no memory that must be zero before.

To start that second kernel would take as long as its work. So it starts while the first one still
multiplies ("programmatic dependent launch"), and waits inside for what that writes.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait
from triton.tools.tensor_descriptor import TensorDescriptor

from solutions.fast.hopper import is_hopper, tma_can_read

MOST_SPLITS = 64
EARLY = True  # whether the second kernel starts before the first one ends


@triton.jit
def part_kernel(
    a_desc, b_desc, sums_ptr, M, N, K, splits,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Write one part of the sum over k of one tile. The grid is (parts, tiles).

    sums is contiguous, (parts, M, N): float32, or the dtype of the result if there is one part.
    """
    if EARLY:
        gdc_launch_dependents()
    part, tile = tl.program_id(0), tl.program_id(1)
    tiles_n = tl.cdiv(N, BLOCK_N)
    row, col = tile // tiles_n * BLOCK_M, tile % tiles_n * BLOCK_N
    n_steps = tl.cdiv(K, BLOCK_K)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(part * n_steps // splits, (part + 1) * n_steps // splits):
        a = a_desc.load([row, i * BLOCK_K])
        b = b_desc.load([i * BLOCK_K, col])
        accumulator = tl.dot(a, b, accumulator)
    offs_m = row + tl.arange(0, BLOCK_M)[:, None]
    offs_n = col + tl.arange(0, BLOCK_N)[None, :]
    ptrs = sums_ptr + (part.to(tl.int64) * M + offs_m) * N + offs_n
    tl.store(ptrs, accumulator.to(sums_ptr.dtype.element_ty), mask=(offs_m < M) & (offs_n < N))


@triton.jit
def add_parts_kernel(
    sums_ptr, c_ptr, n_elements, SPLITS: tl.constexpr, EARLY: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    """Add up SPLITS parts, each of n_elements, and store the sums in the dtype of c."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    total = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    if EARLY:
        gdc_wait()
    # All parts are asked for at once, because their number is known.
    for _ in tl.static_range(SPLITS):
        total += tl.load(sums_ptr + offsets, mask=mask, other=0.0)
        sums_ptr += n_elements
    tl.store(c_ptr + offsets, total.to(c_ptr.dtype.element_ty), mask=mask)


def can_split(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether `split_product` can take a and b as they lie in memory."""
    return is_hopper(a) and tma_can_read(a) and tma_can_read(b)


def split_product(
    a: torch.Tensor,
    b: torch.Tensor,
    splits: int,
    tile: tuple[int, int, int] = (128, 128, 64),
    num_warps: int = 4,
    stages: int = 6,
) -> torch.Tensor:
    """Return a @ b, the sum over k of each tile shared by `splits` programs.

    a: (m, k), b: (k, n), of the same dtype (float16 or bfloat16), such that `can_split(a, b)`.
    """
    (m, k), n = a.shape, b.shape[1]
    block_m, block_n, block_k = tile
    splits = max(1, min(splits, triton.cdiv(k, block_k), MOST_SPLITS))
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    sums = c
    if splits > 1:
        sums = torch.empty((splits, m, n), dtype=torch.float32, device=a.device)
    early = EARLY and splits > 1 and is_hopper(a)
    part_kernel[(splits, triton.cdiv(m, block_m) * triton.cdiv(n, block_n))](
        TensorDescriptor.from_tensor(a, [block_m, block_k]),
        TensorDescriptor.from_tensor(b, [block_k, block_n]),
        sums, m, n, k, splits, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, EARLY=early,
        num_warps=num_warps, num_stages=stages,
    )  # fmt: skip
    if splits > 1:
        block_size = 512
        add_parts_kernel[(triton.cdiv(m * n, block_size),)](
            sums, c, m * n, SPLITS=splits, EARLY=early, BLOCK_SIZE=block_size,
            **({"launch_pdl": True} if early else {}),
        )  # fmt: skip
    return c
