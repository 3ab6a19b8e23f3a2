"""Mistakes of programs that take tiles in rounds, and of the descriptors that bring the tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch.nn.functional import pad

from graders.course.common.detectors import either, leaves_tiles_out, sides_of_tile, tiles
from graders.course.common.expected import computes_with_block
from graders.judge.plan.promises import Plans, Promise
from graders.judge.plan.steps import CasePlan, launches_of
from graders.judge.records import Evidence, Misconception

MOST_PROGRAMS = 132  # the multiprocessors of an H200
MOST_GROUPED = 16  # rows of tiles that a group may reasonably have
WIDEST_STRIDE = 4096  # of the loop over tiles, where it is looked for

Tile = tuple[int, int]


def rounds_of(evidence: Evidence) -> tuple[int, int, int, frozenset[Tile]] | None:
    """Return the number of programs, of tiles down and across, and the tiles that were stored.

    A tile of which anything was stored counts. None where the size of a tile is not known, where
    there was a program for each tile, or where nothing is missing.
    """
    known, sides, missing = tiles(evidence), sides_of_tile(evidence), evidence.never_stored
    if known is None or sides is None or missing is None or not missing.any():
        return None
    grid, down, across = known
    programs = math.prod(grid)
    if not 0 < programs < down * across:
        return None
    rows, columns = missing.shape
    whole = pad(~missing, (0, across * sides[1] - columns, 0, down * sides[0] - rows))
    touched = whole.reshape(down, sides[0], across, sides[1]).any(dim=3).any(dim=1)
    found = frozenset((int(row), int(column)) for row, column in touched.nonzero().tolist())
    return programs, down, across, found


def one_round(evidence: Evidence) -> bool:
    """Tell whether each program took one tile, and there were more."""
    known = rounds_of(evidence)
    return known is not None and len(known[3]) == known[0]


def last_round_missing(evidence: Evidence) -> bool:
    """Tell whether just the tiles are missing that do not make a full round."""
    known = rounds_of(evidence)
    if known is None:
        return False
    programs, down, across, found = known
    full = down * across // programs * programs
    return full < down * across and len(found) == full


def strides_over_tiles(evidence: Evidence) -> bool:
    """Tell whether the tiles are those of a loop whose stride is larger than the grid."""
    known = rounds_of(evidence)
    if known is None:
        return False
    programs, down, across, found = known
    count = down * across
    fitting = [
        stride
        for stride in range(programs + 1, min(count, WIDEST_STRIDE))
        if count // stride * programs + min(count % stride, programs) == len(found)
    ]
    return any(
        found == {tile for number, tile in enumerate(order) if number % stride < programs}
        for order in _orders(down, across)
        for stride in fitting
    )


def tiles_left_out(evidence: Evidence) -> bool:
    """Tell whether tiles are missing, and some program went through several."""
    known = rounds_of(evidence)
    return known is not None and len(known[3]) > known[0]


def _orders(down: int, across: int) -> Iterator[list[Tile]]:
    """Yield the usual orders in which tiles are numbered."""
    yield [(row, column) for row in range(down) for column in range(across)]
    for group in range(2, min(down, MOST_GROUPED) + 1):
        yield [
            (row, column)
            for first in range(0, down, group)
            for column in range(across)
            for row in range(first, min(first + group, down))
        ]
    yield [(row, column) for column in range(across) for row in range(down)]


# ---------------------------------------------------------------- descriptors


def _shifted(matrix: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """These rows of a matrix; zeros behind its end."""
    return pad(matrix, (0, 0, 0, 1))[rows.clamp(max=matrix.shape[0])]


def _tile_numbers(block: int, a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """Tiles of a, of b or of both start at their number, not at that times the block."""
    m, n = a.shape[0], b.shape[1]
    if block < 16 or block >= max(m, n):
        return []
    row, column = torch.arange(m), torch.arange(n)
    other_a = _shifted(a, row // block + row % block)
    other_b = _shifted(b.t(), column // block + column % block).t()
    return [other_a @ b, a @ other_b, other_a @ other_b]


def _step_numbers(block: int, a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """Each step along k starts one element after the one before, not one block."""
    k = a.shape[1]
    if block < 16 or block >= k:
        return []
    place = torch.arange(-(-k // block) * block)
    inner = place // block + place % block
    other_a, other_b = _shifted(a.t(), inner).t(), _shifted(b, inner)
    right_a, right_b = _shifted(a.t(), place).t(), _shifted(b, place)
    return [other_a @ other_b, other_a @ right_b, right_a @ other_b]


# What Triton says of a descriptor that it refuses to make, on the host and in a kernel.
REFUSALS = ("16-byte aligned", "multiples of 16 bytes", "dimension must be contiguous")


def _descriptor_refused(evidence: Evidence) -> bool:
    """Tell whether a descriptor was refused, in the kernel or in the launcher."""
    return any(
        fault.code == "kernel-error" and any(text in fault.message for text in REFUSALS)
        for fault in evidence.faults
    )


DESCRIPTOR_MISTAKES = (
    Misconception(
        code="descriptor-cannot-follow",
        title="A descriptor is made of a matrix that it cannot follow",
        message=(
            "A descriptor follows only a matrix whose last axis has stride 1, whose rows start at "
            "multiples of 16 bytes, and whose first element does so too. This case passes a view "
            "(or a width) for which that is not so: a transpose, every second column, a slice that "
            "starts somewhere, rows of an odd length. A GPU refuses the launch, or reads other "
            "elements."
        ),
        next_step=(
            "Ask each matrix, c too: `x.stride(1) == 1`, `x.stride(0) * x.element_size() % 16 == "
            "0`, `x.data_ptr() % 16 == 0`. Where one of them fails, load by pointers and strides."
        ),
        detector=_descriptor_refused,
    ),
    Misconception(
        code="descriptor-counts-elements",
        title="The offsets of a descriptor are taken for numbers of tiles",
        message=(
            "`descriptor.load([row, col])` wants the first row and the first column of the tile, "
            "counted in *elements*. Here tile number 3 starts at row 3, or the third step over k "
            "at column 3: the tiles overlap, and the end of the matrix is never read."
        ),
        next_step="`a.load([tile_m * BLOCK_M, step * BLOCK_K])`: multiply by the block's own side.",
        expected_wrong=computes_with_block(_tile_numbers, _step_numbers, blocks=(16, 32, 64, 128)),
    ),
)


# ---------------------------------------------------------------- rounds

ROUND_MISTAKES = (
    Misconception(
        code="one-round",
        places=True,
        title="Each program computes one tile and ends",
        message=(
            "There are more tiles than programs, as it should be, and each program computed just "
            "one. Nobody came for the rest. With few tiles it does not show."
        ),
        next_step=(
            "Put the work for a tile into a loop: `for tile in tl.range(tl.program_id(0), "
            "n_tiles, tl.num_programs(0))`."
        ),
        detector=one_round,
        rules_out=frozenset({"grid-too-small"}),
    ),
    Misconception(
        code="last-round-lost",
        places=True,
        title="The last round, which is not full, is lost",
        message=(
            "The programs take tiles round after round, and the full rounds are there. The tiles "
            "that are left in the end, fewer than programs, are missing: `n_tiles // programs` "
            "rounds down. It shows only where the number of tiles is no multiple of that of the "
            "programs."
        ),
        next_step=(
            "Let the loop end at `n_tiles`: in its last round some programs have a tile and others "
            "none. `tl.range(pid, n_tiles, programs)` does that by itself."
        ),
        detector=last_round_missing,
        rules_out=frozenset({"grid-too-small"}),
    ),
    Misconception(
        code="stride-not-programs",
        places=True,
        title="The loop over tiles goes on by another number than that of the programs",
        message=(
            "Program p takes tile p, and next the tile that lies one stride further. If that "
            "stride is larger than the grid, the tiles in between belong to nobody; if it is "
            "smaller, tiles are computed several times. A usual cause: the stride is a fixed "
            "132, or the number of multiprocessors, and the grid is smaller."
        ),
        next_step="Step by `tl.num_programs(0)`: that is the grid, however it was computed.",
        detector=strides_over_tiles,
        rules_out=frozenset({"grid-too-small"}),
    ),
    Misconception(
        code="tiles-left-out",
        places=True,
        title="The loop over tiles leaves some of them out",
        message=(
            "There are programs for all tiles, and yet some of them were never computed. "
            "Either the number of tiles is wrong (rounded down on one axis, or counted with "
            "the block of the other), or the way from the number of a tile to its row and column "
            "is no bijection."
        ),
        next_step=(
            "`n_tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)`; then row `tile // tiles_n` and "
            "column `tile % tiles_n`, both with the tiles along *n*."
        ),
        detector=either(tiles_left_out, leaves_tiles_out),
        rules_out=frozenset({"grid-too-small"}),
    ),
)


def _most_programs(plans: Plans) -> str | None:
    largest = max((_launched(case) for case in plans.a100), default=0)
    if largest <= MOST_PROGRAMS:
        return None
    return f"The largest launch has {largest:,} programs."


def _launched(case: CasePlan) -> int:
    """How many programs the largest launch of a case has; 0 where the grid is not known."""
    return max((_programs(launch.grid) for launch in launches_of(case.steps)), default=0)


def _programs(grid: object) -> int:
    sizes = grid if isinstance(grid, Sequence) and not isinstance(grid, str) else (grid,)
    return math.prod(size for size in sizes if isinstance(size, int))


FEW_PROGRAMS = Promise(
    code="too-many-programs",
    title="There are more programs than multiprocessors",
    message=(
        "But the exercise is about programs that stay: at most as many as the GPU has "
        "multiprocessors, 132 at most, each of which takes one tile after another."
    ),
    next_step="`grid = (min(processors, tiles),)`, and a loop over tiles in the kernel.",
    broken=_most_programs,
)
