"""Fast forms of the lesson on atomics and scans.

*histogram.* The plain form makes an addition in memory of each number, and all of them go to the
same few places. Here each program stays, counts its share of the numbers in shared memory
(`tl.histogram`), and adds its counts to memory once, at the end.

*cumsum.* The plain form walks through a row alone. Here

- a row of up to LONGEST_BLOCK numbers is one block, and is scanned at once;
- a longer row is cut into tiles for programs that work at the same time (the decoupled look-back of
  D. Merrill and M. Garland). A program scans its tile and publishes the tile's sum. What comes
  before it, it learns from the tiles before: it goes back over their sums, as far as the first one
  that already knows the sum of *everything* up to itself. So each number is read once and written
  once. Tiles are handed out in the order in which programs begin, so that whoever waits, waits for
  somebody who has begun.

*split_k_matmul.* Larger tiles, by descriptors, and no atomic additions: see few_tiles.py.
"""

import torch
import triton
import triton.language as tl

from solutions import atomics_and_scans as plain
from solutions.fast.few_tiles import can_split, split_product
from solutions.fast.hopper import processors_of

PROCESSORS = 132  # of an H200: so many programs are launched where there is no GPU
LONGEST_BLOCK = 16384
TILE = 4096
SUM, SUM_OF_ALL = tl.constexpr(1), tl.constexpr(2)  # what a tile has published; 0: nothing


# ---------------------------------------------------------------------------- histogram


@triton.jit
def histogram_kernel(
    x_ptr, counts_ptr, n_elements, n_bins, BINS: tl.constexpr, BLOCK_SIZE: tl.constexpr
):  # fmt: skip
    """Count the numbers of every P-th block; P programs. BINS: a power of two, n_bins or more."""
    bins = tl.arange(0, BINS)
    counts = tl.zeros((BINS,), dtype=tl.int32)
    n_blocks = tl.cdiv(n_elements, BLOCK_SIZE)
    for block in tl.range(tl.program_id(0), n_blocks, tl.num_programs(0)):
        # In 64 bits, because an address can lie more than 2**31 elements away.
        offsets = block.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=-1)
        inside = (x >= 0) & (x < n_bins)
        counts += tl.histogram(tl.where(inside, x, 0).to(tl.int32), BINS, mask=inside)
    tl.atomic_add(counts_ptr + bins, counts, mask=bins < n_bins, sem="relaxed")


# %% histogram
def histogram(x: torch.Tensor, n_bins: int) -> torch.Tensor:
    """Return how often each number stands in x; the contract is that of the plain form."""
    if x.numel() == 0 or x.stride(0) != 1 or x.dtype != torch.int32 or not 0 < n_bins <= 4096:
        return plain.histogram(x, n_bins)
    return launch_histogram(x, n_bins)


def launch_histogram(
    x: torch.Tensor, n_bins: int, block_size: int = 2048, num_warps: int = 4, each: int = 16
) -> torch.Tensor:
    """Launch `each` programs for each multiprocessor."""
    counts = torch.zeros((n_bins,), dtype=torch.int32, device=x.device)
    processors = processors_of(x) if x.is_cuda else PROCESSORS
    grid = (min(each * processors, triton.cdiv(x.numel(), block_size)),)
    bins = max(32, triton.next_power_of_2(n_bins))
    histogram_kernel[grid](
        x, counts, x.numel(), n_bins, BINS=bins, BLOCK_SIZE=block_size, num_warps=num_warps
    )
    return counts


# ---------------------------------------------------------------------------- cumsum


@triton.jit
def scan_rows_kernel(x_ptr, output_ptr, n_cols, stride_row, BLOCK_SIZE: tl.constexpr):
    """Compute the running sums of one row that fits into a block."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_row + cols, mask=mask, other=0.0).to(tl.float32)
    sums = tl.cumsum(x, axis=0)
    tl.store(output_ptr + row * n_cols + cols, sums.to(output_ptr.dtype.element_ty), mask=mask)


@triton.jit
def publish(place, value, KIND: tl.constexpr):
    """Write a sum and what kind of sum it is, as one number of 64 bits that is never half there."""
    bits = value.to(tl.int32, bitcast=True).to(tl.int64)
    tl.atomic_xchg(place, (bits << 32) | KIND, sem="relaxed")


@triton.jit
def sum_before(states_ptr, tile, WINDOW: tl.constexpr):
    """Return the sum of all tiles of this row before `tile`, waiting for them where necessary.

    WINDOW tiles are looked at together, one by each thread: no more, and no fewer, so that no
    state is loaded by two threads, which might see different ones.
    """
    total = 0.0
    last = tile - 1  # the tiles after this one are in `total`
    while last >= 0:
        tiles = last - tl.arange(0, WINDOW)
        # Before the first tile, all there is has been summed up: it is nothing.
        states = tl.load(
            states_ptr + tl.maximum(tiles, 0), mask=tiles >= 0, other=SUM_OF_ALL, volatile=True
        )
        kinds = (states & 3).to(tl.int32)
        values = (states >> 32).to(tl.int32).to(tl.float32, bitcast=True)
        nearest = tl.max(tl.where(kinds == SUM_OF_ALL, tiles, last - WINDOW))
        needed = tiles >= nearest
        if tl.min(tl.where(needed, kinds, SUM_OF_ALL)) > 0:  # else look again
            total += tl.sum(tl.where(needed & (tiles >= 0), values, 0.0))
            last = tl.where(nearest > last - WINDOW, -1, last - WINDOW)
    return total


@triton.jit
def scan_tiles_kernel(
    x_ptr, output_ptr, states_ptr, ticket_ptr, n_cols, stride_row, tiles_per_row,
    BLOCK_SIZE: tl.constexpr, WINDOW: tl.constexpr,
):  # fmt: skip
    """Compute the running sums of one tile of a row.

    states: int64, one for each tile of each row, 0 at first; ticket: one int32, 0 at first.
    """
    number = tl.atomic_add(ticket_ptr, 1, sem="relaxed")
    row, tile = (number // tiles_per_row).to(tl.int64), number % tiles_per_row
    states_ptr += row * tiles_per_row
    cols = tile.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_row + cols, mask=mask, other=0.0).to(tl.float32)
    sum_of_tile = tl.sum(x, axis=0)
    if tile == 0:
        publish(states_ptr, sum_of_tile, SUM_OF_ALL)
        before = 0.0
    else:
        publish(states_ptr + tile, sum_of_tile, SUM)
        before = sum_before(states_ptr, tile, WINDOW)
        publish(states_ptr + tile, before + sum_of_tile, SUM_OF_ALL)
    sums = before + tl.cumsum(x, axis=0)
    tl.store(output_ptr + row * n_cols + cols, sums.to(output_ptr.dtype.element_ty), mask=mask)


# %% cumsum
def cumsum(x: torch.Tensor) -> torch.Tensor:
    """Return the running sums of each row; the contract is that of the plain form."""
    n_rows, n_cols = x.shape
    if x.stride(1) != 1 or x.numel() == 0:
        return plain.cumsum(x)
    if n_cols > LONGEST_BLOCK:
        return scan_tiles(x)
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    block_size = max(128, triton.next_power_of_2(n_cols))
    scan_rows_kernel[(n_rows,)](
        x, output, n_cols, x.stride(0), BLOCK_SIZE=block_size,
        num_warps=4 if block_size <= 2048 else 8 if block_size <= 8192 else 16,
    )  # fmt: skip
    return output


def scan_tiles(x: torch.Tensor, tile: int = TILE, num_warps: int = 4) -> torch.Tensor:
    """Running sums of long rows, by several programs for each."""
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    tiles_per_row = triton.cdiv(n_cols, tile)
    memory = torch.zeros(n_rows * tiles_per_row + 1, dtype=torch.int64, device=x.device)
    scan_tiles_kernel[(n_rows * tiles_per_row,)](
        x, output, memory[1:], memory[:1].view(torch.int32), n_cols, x.stride(0), tiles_per_row,
        BLOCK_SIZE=tile, WINDOW=32 * num_warps, num_warps=num_warps,
    )  # fmt: skip
    return output


# %% split_k_matmul
def split_k_matmul(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    """Return a @ b, k shared by `splits` programs for each tile; contract as in the plain form."""
    if not can_split(a, b):
        return plain.split_k_matmul(a, b, splits)
    return split_product(a, b, splits)
