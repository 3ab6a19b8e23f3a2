"""Misconceptions that every matrix product shares, whatever is fused to it.

Each takes `finish(product, *args)`, which makes the output of the exercise from a product, and
`operands(*args)`, which returns the two factors, (m, k) and (k, n), in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import torch

from graders.judge.footprints import (
    OUT_OF_BOUNDS,
    READS_OUTSIDE,
    Footprint,
    Imitation,
    computes_with_block,
    has_fault,
    looks_like,
    read_as,
)
from graders.judge.mistakes import (
    accumulates_in_half,
    contiguous_assumed,
    missing_mask,
    offset_ignores_pid,
    programs_race,
    tf32_product,
    tiles_missing,
)
from graders.judge.model import Evidence, Misconception

Operands = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def product_mistakes(
    reference: Imitation,
    magnitude: Callable[..., torch.Tensor],
    operands: Operands,
    finish: Imitation,
) -> tuple[Misconception, ...]:
    """Return the misconceptions of a product over k, the special ones first."""
    return (
        k_block_repeated(operands, finish),
        k_loop_missing(operands, finish),
        k_tail_dropped(operands, finish),
        contiguous_assumed(reference, "the width of the matrix"),
        programs_race(
            "The sum over k was split among programs, and each stores its part of it as if it "
            "were the whole.",
            shared_tiles,
        ),
        accumulator_overwritten(operands, finish),
        k_not_masked(operands),
        accumulates_in_half(magnitude),
        tf32_product(magnitude),
        missing_mask("a matrix", "M and N"),
        tiles_missing("m", "n"),
        offset_ignores_pid(),
    )


def k_not_masked(operands: Operands) -> Misconception:
    """Return the misconception of a last k block that is loaded whole."""

    def footprint(evidence: Evidence) -> bool:
        k = operands(*evidence.args)[0].shape[1]
        return k % 128 != 0 and has_fault(evidence, OUT_OF_BOUNDS)

    return Misconception(
        code="k-not-masked",
        title="The last block of k has no mask",
        message=(
            "k is not a multiple of BLOCK_K, so the last step of the loop reads past the end of "
            "the rows of a and of the columns of b. What it finds there is the next row, or "
            "nothing that is yours, and it is *added into every element* of the tile. Where k "
            "happens to fit, all is well: the sort of bug that appears once a week."
        ),
        next_step=(
            "Inside the loop give both loads the condition `offs_k < K` with `other=0.0`. Zeros "
            "do not change a sum; both sides need it, because 0 times NaN is NaN."
        ),
        footprint=footprint,
    )


def k_loop_missing(operands: Operands, finish: Imitation) -> Misconception:
    """Return the misconception of a product of the first k block alone."""

    def first_block(block: int, *args: torch.Tensor) -> torch.Tensor:
        a, b = operands(*args)
        return finish(a[:, :block] @ b[:block], *args)  # type: ignore[return-value]

    return Misconception(
        code="k-loop-missing",
        title="Only the first block of k enters the sum",
        message=(
            "Each element is the product of the *beginning* of a row with the beginning of a "
            "column. The loop over k is missing, ends after one step, or the tile is stored "
            "inside it before it is complete."
        ),
        next_step=(
            "Step through all of k, `for k in range(0, tl.cdiv(K, BLOCK_K))`, add to the "
            "accumulator in each step, and store after the loop."
        ),
        footprint=computes_with_block(first_block),
    )


def k_tail_dropped(operands: Operands, finish: Imitation) -> Misconception:
    """Return the misconception of a loop that leaves out the block of k that is not full."""

    def whole_blocks(block: int, *args: torch.Tensor) -> torch.Tensor:
        a, b = operands(*args)
        end = a.shape[1] // block * block
        return finish(a[:, :end] @ b[:end], *args)  # type: ignore[return-value]

    return Misconception(
        code="k-tail-dropped",
        title="The end of k is left out of the sum",
        message=(
            "The loop runs over the full blocks of k only: `K // BLOCK_K` rounds down, and the "
            "products of the last, ragged block are missing from every element."
        ),
        next_step=(
            "Round up, `tl.cdiv(K, BLOCK_K)`, or use `range(0, K, BLOCK_K)`, and mask the last "
            "block with `offs_k < K`."
        ),
        footprint=computes_with_block(whole_blocks),
    )


def k_block_repeated(operands: Operands, finish: Imitation) -> Misconception:
    """Return the misconception of pointers that never move along k."""

    def repeated(block: int, *args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        k = a.shape[1]
        if k <= block:
            return None
        steps, rest = -(-k // block), k % block
        first = a[:, :block] @ b[:block]
        # With a mask that follows the loop counter the last step takes only `rest` columns.
        ragged = (steps - 1) * first + a[:, :rest] @ b[:rest] if rest else steps * first
        return finish(ragged, *args)

    def repeated_whole(block: int, *args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        steps = -(-a.shape[1] // block)
        if steps < 2:
            return None
        return finish(steps * (a[:, :block] @ b[:block]), *args)

    plain, masked = computes_with_block(repeated_whole), computes_with_block(repeated)
    return Misconception(
        code="k-block-repeated",
        title="Every step of the loop multiplies the same block",
        message=(
            "The loop runs often enough, but each step loads the *first* block of k again: the "
            "output is the product of that block, several times over. The pointers (or the "
            "offsets along k) are computed before the loop and never move."
        ),
        next_step=(
            "At the end of each step advance both: `a_ptrs += BLOCK_K * stride_ak` and "
            "`b_ptrs += BLOCK_K * stride_bk`; or compute `offs_k` from the loop variable."
        ),
        footprint=lambda evidence: plain(evidence) or masked(evidence),
    )


def accumulator_overwritten(operands: Operands, finish: Imitation) -> Misconception:
    """Return the misconception of a tile that holds the last k block's product alone."""

    def last_block(block: int, *args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        k = a.shape[1]
        if k == 0:
            return None
        start = (k - 1) // block * block
        return finish(a[:, start:] @ b[start:], *args)

    return Misconception(
        code="accumulator-overwritten",
        title="Each step overwrites the sum of the steps before",
        message=(
            "Each element is the product of the *last* block of k alone. The accumulator is "
            "assigned anew in each step instead of being added to, or set to zero inside the "
            "loop."
        ),
        next_step=(
            "Zero it once before the loop; inside it, `accumulator = tl.dot(a, b, accumulator)` "
            "or `accumulator += tl.dot(a, b)`."
        ),
        footprint=computes_with_block(last_block),
    )


def shared_tiles(evidence: Evidence) -> bool:
    """Tell whether the grid had a third axis, in a product that needs two, and values differ."""
    return (
        evidence.actual is not None
        and not has_fault(evidence, OUT_OF_BOUNDS)
        and any(len(launch.grid) == 3 and launch.grid[2] > 1 for launch in evidence.launches)
    )


def misread_factor(
    first: Callable[[torch.Tensor, torch.Tensor], Iterable[torch.Tensor | None]],
    second: Callable[[torch.Tensor, torch.Tensor], Iterable[torch.Tensor | None]],
) -> Footprint:
    """Return the footprint of a product a @ b of which one factor is read in a wrong way.

    `first(a, b)` and `second(a, b)` yield what is read in place of a, and of b; None where
    that leaves the storage. Reads outside a matrix that is not square are claimed too.
    """

    def footprint(evidence: Evidence) -> bool:
        a, b = evidence.args[:2]
        square = a.shape[0] == a.shape[1] and b.shape[0] == b.shape[1]
        if not square and has_fault(evidence, READS_OUTSIDE):
            return True
        products = [read.double() @ b.double() for read in first(a, b) if read is not None]
        products += [a.double() @ read.double() for read in second(a, b) if read is not None]
        return any(looks_like(evidence, product) for product in products)

    return footprint


def rows_of_k(a: torch.Tensor, b: torch.Tensor) -> Iterator[torch.Tensor | None]:
    """Yield b as it is read by a kernel that takes its rows to be k elements apart."""
    k = b.shape[0]
    for column in {1, b.stride(1)}:
        yield read_as(b, tuple(b.shape), (k, column))


def strides_exchanged(matrix: torch.Tensor) -> tuple[torch.Tensor | None]:
    """Return the matrix as it is read with its two strides exchanged."""
    return (read_as(matrix, tuple(matrix.shape), (matrix.stride(1), matrix.stride(0))),)
