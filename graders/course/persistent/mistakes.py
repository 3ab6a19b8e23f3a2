"""Mistakes of programs that take tiles in rounds, and of the descriptors that bring the tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch.nn.functional import pad

from graders.course.common.detectors import either, leaves_tiles_out, sides_of_tile, tiles
from graders.course.common.expected import computes_with_block
from graders.judge.plan.requirements import Plans, Requirement
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
    """These rows of a matrix; zeros past its end."""
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
        title="A matrix breaks the rules for descriptors",
        message=(
            "A descriptor needs a last axis with stride 1, and a start and rows at multiples "
            "of 16 bytes. In this case a view or a width breaks that."
        ),
        next_step=(
            "Test each matrix, c too: `x.stride(1) == 1`, `x.stride(0) * x.element_size() % "
            "16 == 0`, `x.data_ptr() % 16 == 0`. If a test fails, use pointers."
        ),
        detector=_descriptor_refused,
    ),
    Misconception(
        code="descriptor-counts-elements",
        title="The offsets of a descriptor count tiles, not elements",
        message=(
            "`descriptor.load([row, col])` takes the first row and column of the tile in "
            "*elements*. Here tile number 3 starts at row 3 (or column 3), so the tiles "
            "overlap."
        ),
        next_step=(
            "`a.load([tile_m * BLOCK_M, step * BLOCK_K])`: multiply by the block size of that axis."
        ),
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
            "There are more tiles than programs, and each program computed only one. The "
            "other tiles are missing."
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
        title="The last, partial round is lost",
        message=(
            "The full rounds are computed. The remaining tiles, fewer than programs, are "
            "missing, for example because `n_tiles // programs` rounds down."
        ),
        next_step=(
            "Let the loop end at `n_tiles`: `tl.range(pid, n_tiles, programs)`. Then in the "
            "last round some programs have a tile and others none."
        ),
        detector=last_round_missing,
        rules_out=frozenset({"grid-too-small"}),
    ),
    Misconception(
        code="stride-not-programs",
        places=True,
        title="The loop over tiles steps by another number than the grid's",
        message=(
            "The step is larger than the grid, so no program computes the tiles between. A "
            "usual cause: the step is a fixed 132, or the number of multiprocessors, and the "
            "grid is smaller."
        ),
        next_step="Step by `tl.num_programs(0)`, the size of the grid.",
        detector=strides_over_tiles,
        rules_out=frozenset({"grid-too-small"}),
    ),
    Misconception(
        code="tiles-left-out",
        places=True,
        title="The loop over tiles skips some of them",
        message=(
            "Some tiles were never computed. Either the number of tiles is too small, or two "
            "tile numbers lead to the same row and column."
        ),
        next_step=(
            "`n_tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)`; row `tile // tiles_n`, "
            "column `tile % tiles_n`, with `tiles_n` tiles along N."
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


FEW_PROGRAMS = Requirement(
    code="too-many-programs",
    title="There are more programs than multiprocessors",
    message=(
        "But a persistent kernel has at most as many programs as the GPU has "
        "multiprocessors (132 here), and each computes several tiles."
    ),
    next_step="`grid = (min(processors, tiles),)`, and a loop over tiles in the kernel.",
    broken=_most_programs,
)
