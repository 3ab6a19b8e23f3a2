"""Fast form of the lesson on autotuning: the kernel of hopper_matmul.py, its order measured.

The tile is not tuned: 128 x 256 is the largest that the registers hold, and every smaller one
reads more from the cache. What is left to measure is how many rows of tiles to group: on an
H200, groups of 8 and of 16 rows are within 0.2 % of each other, and 32 rows lose 1 %.

Two shapes want something else:

- few tiles, because there are few rows: k is shared out (few_tiles.py);
- rows that do not start at multiples of 16 bytes, such as those of 4097 numbers: TMA cannot read
  them, and nothing else reads fast enough. They are first copied to memory with gaps between the
  rows. The copies move n^2 numbers where the product does n^3 multiplications.
"""

import torch
import triton

from solutions import autotuning as plain
from solutions.fast.few_tiles import can_split, split_product
from solutions.fast.hopper import is_hopper, processors_of
from solutions.fast.hopper_matmul import (
    BLOCK_M,
    BLOCK_N,
    MAX_REGISTERS,
    can_multiply,
    hopper_matmul_kernel,
    launch,
)
from solutions.fast.strides import copy_tile_kernel

MUCH_WORK = 2**30  # multiplications; with fewer of them copies first do not pay

tuned_kernel = triton.autotune(
    configs=[
        triton.Config({"GROUP": group}, num_warps=4, maxnreg=MAX_REGISTERS) for group in (8, 16)
    ],
    key=["M", "N", "K"],
)(hopper_matmul_kernel)


def is_half(x: torch.Tensor) -> bool:
    """Whether x has one of the dtypes that the fast kernels take."""
    return x.dtype in (torch.float16, torch.bfloat16)


def with_gaps(n_rows: int, n_cols: int, like: torch.Tensor) -> torch.Tensor:
    """An empty matrix whose rows start at multiples of 16 bytes."""
    wide = triton.cdiv(n_cols, 8) * 8
    return torch.empty((n_rows, wide), dtype=like.dtype, device=like.device)[:, :n_cols]


def copied(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Copy the matrix x into `target`, and return that."""
    n_rows, n_cols = x.shape
    block = 64
    copy_tile_kernel[(triton.cdiv(n_rows, block) * triton.cdiv(n_cols, block),)](
        x, target, n_rows, n_cols, x.stride(0), x.stride(1), target.stride(0),
        BLOCK_M=block, BLOCK_N=block, num_warps=8,
    )  # fmt: skip
    return target


# %% autotuned_matmul
def autotuned_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b; the contract is that of the plain form, which takes what does not fit."""
    (m, k), n = a.shape, b.shape[1]
    if can_split(a, b) and m <= 64 and m * n * k >= MUCH_WORK:
        n_tiles = triton.cdiv(n, 64)
        splits = max(1, min(processors_of(a) // n_tiles, k // 512))
        return split_product(a, b, splits, (64, 64, 128), 4, 5)
    if can_multiply(a, b):
        return launch(tuned_kernel, a, b, None)
    if is_hopper(a) and is_half(a) and m * n * k >= MUCH_WORK and m >= BLOCK_M and n >= BLOCK_N:
        gapped = [copied(x, with_gaps(*x.shape, like=a)) for x in (a, b)]
        c = launch(tuned_kernel, *gapped, None, with_gaps(m, n, like=a))
        return copied(c, torch.empty((m, n), dtype=a.dtype, device=a.device))
    return plain.autotuned_matmul(a, b)
