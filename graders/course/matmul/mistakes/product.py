"""Misconceptions that every matrix product shares, whatever is fused to it.

Each takes `finish(product, *args)`, which makes the output of the exercise from a product, and
`operands(*args)`, which returns the two factors, (m, k) and (k, n), in float64.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from graders.course.common.detectors import OUT_OF_BOUNDS, RACES, Detector, has_fault, has_holes
from graders.course.common.expected import (
    BLOCK_SIZES,
    Operands,
    Result,
    computes_with_block,
    each,
    read_as,
)
from graders.course.common.placement import address_stretched
from graders.course.common.rounding import accumulates_in_half, lossy_dtype, tf32_product
from graders.course.common.shared import (
    axes_of_grid_swapped,
    axis_ignores_pid,
    contiguous_assumed,
    grid_too_large,
    missing_mask,
    offset_ignores_pid,
    other_missing,
    programs_race,
    tiles_lost,
    tiles_missing,
)
from graders.course.common.strides import row_stride_is_height
from graders.course.matmul.mistakes.accumulator import accumulator_kept
from graders.course.matmul.mistakes.bounds import bound_of_other_axis, ones_behind_k, reads_behind
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence, Misconception

MOST_PARTS = 16  # of k, for a kernel that splits its sum among programs


def product_mistakes(
    reference: Result,
    magnitude: Callable[..., torch.Tensor],
    operands: Operands,
    finish: Result,
    special: tuple[Misconception, ...] = (),
) -> tuple[Misconception, ...]:
    """Return the misconceptions of a product over k, with an exercise's `special` ones.

    Of those that account for equally many cases the first is named. Reads outside a tensor
    have several causes: views alone, a ragged k alone, or (among the special ones) any shape
    that is not square.
    """
    return (
        contiguous_assumed(reference, "the width of the matrix"),
        axes_of_grid_swapped(),
        grid_too_large(),
        k_not_masked(operands),
        other_missing("0.0", cut_to_zero(operands)),
        *special,
        k_block_repeated(operands, finish),
        k_wrapped(operands, finish),
        k_loop_missing(operands, finish),
        k_tail_dropped(operands, finish),
        bound_of_other_axis(operands, finish),
        ones_behind_k(operands, finish),
        row_stride_is_height("M", "N"),
        address_stretched(),
        programs_race(
            "The sum over k was split among programs, and each stores its part of it as if it "
            "were the whole.",
            part_stored(operands, finish),
        ),
        accumulator_overwritten(operands, finish),
        accumulator_kept(operands, finish),
        elementwise_product(operands, finish),
        accumulates_in_half(magnitude),
        lossy_dtype(reference),
        tf32_product(),
        missing_mask("a matrix", "M and N"),
        tiles_lost(),
        axis_ignores_pid(),
        tiles_missing("m", "n"),
        offset_ignores_pid(),
    )


def cut_to_zero(operands: Operands) -> Detector:
    """Return the detector of zeros everywhere, in place of sums over a ragged k: NaN and a ReLU."""

    def detector(evidence: Evidence) -> bool:
        actual = evidence.actual
        k = operands(*evidence.args)[0].shape[1]
        if actual is None or bool(actual.any()) or has_holes(evidence) or k % 16 == 0:
            return False
        behind_relu = not bool((evidence.expected < 0).any())
        return behind_relu and bool((evidence.expected > 0).any())

    return detector


def k_not_masked(operands: Operands) -> Misconception:
    """Return the misconception of a last k block that is loaded whole."""

    def detector(evidence: Evidence) -> bool:
        k = operands(*evidence.args)[0].shape[1]
        return k % 128 != 0 and reads_behind(evidence)

    return Misconception(
        code="k-not-masked",
        title="The last block of k has no mask",
        message=(
            "k is not a multiple of BLOCK_K, and the last step of the loop reads past the end of "
            "k. These products are added to *every element* of the tile."
        ),
        next_step=(
            "In the loop give both loads the condition `offs_k < K` and `other=0.0`. Both need "
            "it, because 0 times NaN is NaN."
        ),
        detector=detector,
    )


def k_loop_missing(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of a product of the first k block alone."""

    def first_block(block: int, *args: torch.Tensor) -> torch.Tensor:
        a, b = operands(*args)
        return finish(a[:, :block] @ b[:block], *args)  # type: ignore[return-value]

    return Misconception(
        code="k-loop-missing",
        title="Only the first block of k enters the sum",
        message=(
            "Each element sums over the first block of k only. The loop over k is missing, ends "
            "after one step, or the store is inside it."
        ),
        next_step=(
            "Loop over all of k, `for k_start in range(0, K, BLOCK_K)`, add to the accumulator in "
            "each step, and store after the loop."
        ),
        expected_wrong=computes_with_block(first_block),
    )


def k_tail_dropped(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of a loop that leaves out the block of k that is not full."""

    def whole_blocks(block: int, *args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        end = a.shape[1] // block * block
        if not end:
            return None  # nothing but zeros: so are the results of many other mistakes
        return finish(a[:, :end] @ b[:end], *args)

    return Misconception(
        code="k-tail-dropped",
        title="The end of k is left out of the sum",
        message=(
            "The loop covers only the full blocks of k: `K // BLOCK_K` rounds down. The products "
            "of the last, partial block are missing from every element."
        ),
        next_step=(
            "Round up, `tl.cdiv(K, BLOCK_K)`, or use `range(0, K, BLOCK_K)`, and mask the last "
            "block with `offs_k < K`."
        ),
        expected_wrong=computes_with_block(whole_blocks),
    )


def k_block_repeated(operands: Operands, finish: Result) -> Misconception:
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

    def counted_twice(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
        a, b = operands(*args)
        k = a.shape[1]
        if k <= block:
            return [finish(2 * (a @ b), *args)] if k else []  # type: ignore[list-item]
        last = (k - 1) // block * block
        again = (a[:, :block] @ b[:block], a[:, last:] @ b[last:])
        return [finish(a @ b + more, *args) for more in again]  # type: ignore[misc]

    def one_repeated(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
        a, b = operands(*args)
        (m, k), n = a.shape, b.shape[1]
        if k <= block:
            return []
        missing = -k % block
        whole_a = torch.nn.functional.pad(a, (0, missing)).reshape(m, -1, block)
        whole_b = torch.nn.functional.pad(b, (0, 0, 0, missing)).reshape(-1, block, n)
        found = (a[:, :block] @ whole_b.sum(0), whole_a.sum(1) @ b[:block])
        return [finish(product, *args) for product in found]  # type: ignore[misc]

    return Misconception(
        code="k-block-repeated",
        title="A block of k is multiplied more than once",
        message=(
            "A block of k enters the sum more than once. Either the pointers do not move along k, "
            "or a block is added again outside the loop."
        ),
        next_step=(
            "Compute `offs_k` from the loop variable, or advance both pointers at the end of each "
            "step: `a_ptrs += BLOCK_K * stride_ak`, `b_ptrs += BLOCK_K * stride_bk`."
        ),
        expected_wrong=computes_with_block(repeated_whole, repeated, one_repeated, counted_twice),
    )


def elementwise_product(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of tiles that are multiplied element by element."""

    def by_element(block: int, *args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        (m, k), n = a.shape, b.shape[1]
        if not (m and n and k) or block < 16:
            return None
        extra = (-m % block, -n % block, -k % block)
        left = torch.nn.functional.pad(a, (0, extra[2], 0, extra[0]))
        right = torch.nn.functional.pad(b, (0, extra[1], 0, extra[2]))
        total = torch.zeros(left.shape[0], right.shape[1], dtype=a.dtype)
        down, across = left.shape[0] // block, right.shape[1] // block
        for start in range(0, left.shape[1], block):
            part_a, part_b = left[:, start : start + block], right[start : start + block]
            total += part_a.repeat(1, across) * part_b.repeat(down, 1)
        return finish(total[:m, :n], *args)

    return Misconception(
        code="elementwise-product",
        title="The tiles are multiplied element by element",
        message=(
            "`a * b` multiplies elements at the same place. A matrix product sums the products of "
            "a whole row and a whole column."
        ),
        next_step='Write `accumulator = tl.dot(a, b, accumulator, input_precision="ieee")`.',
        expected_wrong=computes_with_block(by_element, blocks=(16, 32, 64, 128)),
    )


def accumulator_overwritten(operands: Operands, finish: Result) -> Misconception:
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
        title="Each step replaces the sum of the earlier steps",
        message=(
            "Each element is the product of the *last* block of k alone. The accumulator is "
            "replaced in each step, or set to zero inside the loop."
        ),
        next_step=(
            "Set it to zero once before the loop. In the loop write `accumulator = tl.dot(a, b, "
            "accumulator)` or `accumulator += tl.dot(a, b)`."
        ),
        expected_wrong=computes_with_block(last_block, unless=RACES),
    )


def part_stored(operands: Operands, finish: Result) -> Detector:
    """Return the detector of a third axis of the grid, and a sum over one part of k alone."""

    def detector(evidence: Evidence) -> bool:
        parts = max(
            (launch.grid[2] for launch in evidence.launches if len(launch.grid) == 3), default=1
        )
        args = widened(evidence.args)
        a, b = operands(*args)
        k = a.shape[1]
        if not 1 < parts <= MOST_PARTS or has_fault(evidence, OUT_OF_BOUNDS):
            return False
        inner = torch.arange(k)
        owners = [inner // max(1, -(-k // parts))]
        owners += [inner // block % parts for block in BLOCK_SIZES if 1 < block < k]
        for owner in owners:
            for part in range(parts):
                mine = owner == part
                stored = finish(a[:, mine] @ b[mine], *args)
                if stored is not None and looks_like(evidence, stored):
                    return True
        return False

    return detector


def k_wrapped(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of offsets along k that are wrapped round with `% K`."""

    def wrapped(block: int, *args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        k = a.shape[1]
        if k % block == 0:
            return None
        inner = torch.arange(k + -k % block) % k
        return finish(a[:, inner] @ b[inner], *args)

    return Misconception(
        code="k-wrapped",
        title="The beginning of k is counted twice",
        message=(
            "In the last step over k, lanes past K are wrapped (`offs_k % K`). They load real "
            "elements, whose products are added a second time."
        ),
        next_step="Load lanes past K as zero, for both factors: `mask=offs_k < K, other=0.0`.",
        expected_wrong=computes_with_block(wrapped),
    )


def k_step_wrong(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of pointers into b that advance by BLOCK_K elements, not rows."""

    def misled(block: int, *args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        k, n = b.shape
        row, column = torch.arange(k)[:, None], torch.arange(n)
        place = row % block * n + row // block * block + column
        dense = a.is_contiguous() and b.is_contiguous()
        if k <= block or not b.numel() or not dense or int(place.max()) >= b.numel():
            return None
        return finish(a.double() @ b.double().flatten()[place], *args)

    return Misconception(
        code="k-step-wrong",
        title="The pointers advance by the wrong distance along k",
        message=(
            "The first block of k is correct, the next ones are not. One step along k is BLOCK_K "
            "times the stride *along k*: stride_ak for a, stride_bk for b."
        ),
        next_step="Write `a_ptrs += BLOCK_K * stride_ak` and `b_ptrs += BLOCK_K * stride_bk`.",
        expected_wrong=computes_with_block(misled, in_memory=True),
    )


def left_oblong_factor(evidence: Evidence) -> bool:
    """Tell whether the kernel left a factor, where the factors are not both square."""
    a, b = evidence.args[:2]
    square = a.shape[0] == a.shape[1] and b.shape[0] == b.shape[1]
    return not square and reads_behind(evidence)


def with_rows_of_k(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """Return the products with a b whose rows are taken to be k elements apart."""
    k = b.shape[0]
    read = each(read_as(b, tuple(b.shape), (k, column)) for column in {1, b.stride(1)})
    return [a.double() @ other.double() for other in read]


def with_factor_transposed(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """Return the products of which one factor is read with its two strides exchanged."""
    other_a, other_b = _strides_exchanged(a), _strides_exchanged(b)
    of_a = [] if other_a is None else [other_a.double() @ b.double()]
    return of_a if other_b is None else [*of_a, a.double() @ other_b.double()]


def _strides_exchanged(matrix: torch.Tensor) -> torch.Tensor | None:
    return read_as(matrix, tuple(matrix.shape), (matrix.stride(1), matrix.stride(0)))
