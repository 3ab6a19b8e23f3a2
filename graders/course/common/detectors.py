"""Detectors: they find the traces of a mistake in the evidence of a failing case.

A detector examines only the evidence of one failing case, so it works for any style of kernel.

Several misconceptions may claim the same case (lanes outside a tensor have many causes). The judge
names the one that explains most of the failing cases; among equals, the one that comes first in the
record. So detectors claim everything they *can* explain, and records list special mistakes before
general ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement

import torch

from graders.judge.diagnosis.unwritten_regions import idle_programs, stored_twice
from graders.judge.records import Aim, Evidence, LaunchFacts

Detector = Callable[[Evidence], bool]

OUT_OF_BOUNDS = frozenset(
    {"out-of-bounds-load", "out-of-bounds-store", "gap-read", "gap-store", "out-of-bounds-atomic"}
)
STRAYS = OUT_OF_BOUNDS | {"kernel-error"}
READS_OUTSIDE = frozenset({"out-of-bounds-load", "gap-read"})
TILE_SIDE = re.compile(r"(BLOCK|TILE|B|T)(_?SIZE)?_?[MNHW]", re.IGNORECASE)
EXP_SAFE = 40.0  # the exp of the difference of two such numbers is finite in float32
RACES = frozenset({"write-race", "lane-race", "read-write-race", "order-dependent"})


def has_fault(evidence: Evidence, codes: frozenset[str]) -> bool:
    """Return whether the engine reported one of these faults."""
    return any(fault.code in codes for fault in evidence.faults)


def tensors(evidence: Evidence) -> Iterator[torch.Tensor]:
    """Yield the tensor arguments of the case."""
    return (arg for arg in evidence.args if isinstance(arg, torch.Tensor))


def all_contiguous(evidence: Evidence) -> bool:
    """Return whether every tensor argument of the case is contiguous."""
    return all(tensor.is_contiguous() for tensor in tensors(evidence))


def programs(evidence: Evidence) -> int:
    """Return how many programs the largest launch of the case had (0 without a launch)."""
    return max((math.prod(launch.grid) for launch in evidence.launches), default=0)


def has_holes(evidence: Evidence) -> bool:
    """Return whether elements were never stored, so that they still have the judge's values."""
    return evidence.never_stored is not None and bool(evidence.never_stored.any())


def nan_from_padding(length: Callable[..., int]) -> Detector:
    """Return the detector of NaNs that only the padding of a row explains.

    The cause is a load with a mask and no `other`: the judge fills the masked-off lanes with NaN.
    `length(*args)` is the length of a row; a power of two needs no padding. If inputs are
    infinite or large enough for exp to overflow, NaN has other causes too.
    """

    def detector(evidence: Evidence) -> bool:
        actual, count = evidence.actual, length(*evidence.args)
        if actual is None or not actual.isnan().any() or count & (count - 1) == 0:
            return False
        if has_holes(evidence) or has_fault(evidence, OUT_OF_BOUNDS | {"uninitialised-read"}):
            return False
        if not all(bool((tensor.abs() < EXP_SAFE).all()) for tensor in tensors(evidence)):
            return False
        return bool(evidence.expected.isfinite().all())

    return detector


def either(*detectors: Detector) -> Detector:
    """Return the detector that matches if one of them matches."""
    return lambda evidence: any(detector(evidence) for detector in detectors)


def aim(evidence: Evidence) -> Aim | None:
    """Return where the stores to the output pointed, before masking; None if unknown."""
    found = evidence.launches[-1].aim if evidence.launches else None
    return found if found is not None and found.elements == evidence.expected.numel() > 0 else None


def came_to_all(evidence: Evidence) -> bool:
    """Return whether every element of the output was pointed at, so that a mask left some out."""
    found = aim(evidence)
    return found is not None and found.reached == found.elements


def apart(evidence: Evidence) -> tuple[int, int] | None:
    """Return the distance between the starts of neighbouring programs, and the lanes of a block.

    None if unknown, if the grid has several axes, or if there are too few lanes for the output:
    then the distance is not the mistake.
    """
    found, grid = aim(evidence), evidence.launches[-1].grid if evidence.launches else ()
    axes = [axis for axis, size in enumerate(grid) if size > 1]
    if found is None or len(axes) != 1 or math.prod(grid) * found.lanes < found.elements:
        return None
    start, following = found.firsts[0], found.firsts[axes[0] + 1]
    if start != 0 or following is None:
        return None
    if evidence.expected.dim() > 1 and found.lanes not in evidence.launches[-1].meta.values():
        return None  # a tile of several rows, whose neighbour starts within its width
    return following - start, found.lanes


def stores_single_elements(evidence: Evidence) -> bool:
    """Return whether each program stored one element, although there is a block size."""
    found = aim(evidence)
    if found is None or found.lanes != 1 or found.reached is None or not has_holes(evidence):
        return False
    launch = evidence.launches[-1]
    return found.reached <= math.prod(launch.grid) and any(n > 1 for n in _block_sizes(launch))


def starts_late(evidence: Evidence) -> bool:
    """Return whether the first program starts after the first element, which is never stored."""
    found = aim(evidence)
    if found is None or not found.firsts[0] or found.firsts[0] < 0 or not has_holes(evidence):
        return False
    assert evidence.never_stored is not None
    before = evidence.never_stored.flatten()[: found.firsts[0]]
    return bool(before.all())


def stored_prefix(evidence: Evidence) -> int | None:
    """Return how many elements were stored if they are the first ones of the output.

    None if unknown, if everything was stored, or if the gaps are elsewhere.
    """
    if evidence.never_stored is None or not evidence.never_stored.any():
        return None
    missing = evidence.never_stored.flatten()
    first = int(missing.to(torch.uint8).argmax())
    return first if bool(missing[first:].all()) else None


def stuck_on_first_block(evidence: Evidence) -> bool:
    """Return whether there were just enough programs, but only the first block was stored.

    Programs that start at `pid`, one element apart, store a few elements more.
    """
    stored, count = stored_prefix(evidence), programs(evidence)
    if not stored or count < 2 or _all_blocks_stored(evidence, stored):
        return False
    block = stored - (count - 1)
    if block in _block_sizes(evidence.launches[-1]) and block > 1:
        return True
    return stored * (count - 1) < evidence.expected.numel() <= stored * count


def _all_blocks_stored(evidence: Evidence, stored: int) -> bool:
    """Whether `stored` elements are one block for each program, so that none was stuck."""
    return any(
        stored == math.prod(launch.grid) * math.prod(set(_block_sizes(launch)))
        for launch in evidence.launches
        if launch.meta
    )


def ran_out_of_programs(evidence: Evidence) -> bool:
    """Return whether the end of the output is missing because there were too few programs."""
    if stored_twice(evidence):
        return False
    stored, count = stored_prefix(evidence), programs(evidence)
    if stored is None or (stuck_on_first_block(evidence) and count > 2) or came_to_all(evidence):
        return False
    if stores_single_elements(evidence):
        return False
    distance = apart(evidence)
    if distance is not None and distance[0] != distance[1]:  # enough lanes, at wrong places
        return False
    one_short = stored == evidence.expected.numel() - 1 and stored % 2 == 1
    return (stored > 0 and not one_short) or count == 0


def stored_corner(evidence: Evidence) -> tuple[int, int] | None:
    """Return height and width of the upper left corner, if only that corner was stored.

    None if all of a 2D output was stored, nothing, or some other pattern.
    """
    missing = evidence.never_stored
    if missing is None or missing.ndim != 2 or not missing.any() or missing.all():
        return None
    height, width = int((~missing).any(dim=1).sum()), int((~missing).any(dim=0).sum())
    whole = bool((~missing)[:height, :width].all())
    return (height, width) if whole and height * width == int((~missing).sum()) else None


def tiles_beyond(evidence: Evidence, corner: tuple[int, int]) -> int:
    """Return how many tiles of the size of `corner` cover the output."""
    rows, columns = evidence.expected.shape
    return math.ceil(rows / corner[0]) * math.ceil(columns / corner[1])


def stuck_on_first_tile(evidence: Evidence) -> bool:
    """Return whether there were just enough programs, but only one tile (or block) was stored."""
    if stuck_on_first_block(evidence):
        return True
    corner = stored_corner(evidence)
    return corner is not None and programs(evidence) == tiles_beyond(evidence, corner) > 1


def reaches_an_edge(evidence: Evidence, corner: tuple[int, int]) -> bool:
    """Return whether the stored corner has the full height or width, and is not a single row."""
    rows, columns = evidence.expected.shape
    single = (corner[0] == 1 and rows > 1) or (corner[1] == 1 and columns > 1)
    return not single and (corner[0] == rows or corner[1] == columns)


def stays_along_one_axis(evidence: Evidence) -> bool:
    """Return whether one axis has only its first block, although the grid has several along it."""
    corner, shape = stored_corner(evidence), evidence.expected.shape
    if corner is None or (corner[0] == shape[0]) == (corner[1] == shape[1]):
        return False
    if _every_axis_moves(evidence):
        return False  # the grid extends along another axis
    axis = 0 if corner[0] < shape[0] else 1
    block, blocks = corner[axis], math.ceil(shape[axis] / corner[axis])
    return any(
        block in _block_sizes(launch) and blocks in launch.grid and math.prod(launch.grid) >= blocks
        for launch in evidence.launches
    )


def _every_axis_moves(evidence: Evidence) -> bool:
    """Return whether the next program along each axis with several starts at another offset."""
    found = aim(evidence)
    if found is None:
        return False
    first, *following = found.firsts
    grid = (*evidence.launches[-1].grid, 1, 1)
    moved = [n != first for n, size in zip(following, grid, strict=False) if size > 1]
    return bool(moved) and all(moved)


def enough_programs(evidence: Evidence) -> bool:
    """Return whether a launch had programs for all tiles of its two largest block sizes."""
    return any(
        math.prod(launch.grid) * math.prod(_block_sizes(launch)[-2:]) >= evidence.expected.numel()
        for launch in evidence.launches
    )


def one_program_per_column(evidence: Evidence) -> bool:
    """Return whether there are as many programs as columns, which does not fit the rows."""
    if evidence.expected.ndim != 2 or not (has_holes(evidence) or has_fault(evidence, STRAYS)):
        return False
    rows, columns = evidence.expected.shape
    return programs(evidence) == columns != rows


def _block_sizes(launch: LaunchFacts) -> list[int]:
    """The meta-parameters that may be sizes of a tile; a single one means a square."""
    sizes = sorted(value for value in launch.meta.values() if type(value) is int)
    return sizes * 2 if len(sizes) == 1 else sizes


def sides_of_tile(evidence: Evidence) -> tuple[int, int] | None:
    """Return height and width of a tile of the last launch.

    None if the names of the launch's constants do not show the size of a tile.
    """
    if not evidence.launches or evidence.expected.ndim != 2:
        return None
    sides = []
    for letters in (("M", "H"), ("N", "W")):
        named = [
            value
            for name, value in evidence.launches[-1].meta.items()
            if type(value) is int and TILE_SIDE.fullmatch(name) and name.upper().endswith(letters)
        ]
        if len(named) != 1 or named[0] < 1:
            return None
        sides.append(named[0])
    return sides[0], sides[1]


def _side_of_square(evidence: Evidence) -> tuple[int, int] | None:
    """Return the sides of a square tile of the last launch: one of its constants, twice.

    None if a store has a different number of lanes, or if two different constants give that number.
    """
    found, launches = aim(evidence), evidence.launches
    sizes = {n for n in launches[-1].meta.values() if type(n) is int} if launches else set()
    if found is None or evidence.expected.ndim != 2:
        return None
    pairs = [
        pair for pair in combinations_with_replacement(sizes, 2) if math.prod(pair) == found.lanes
    ]
    return pairs[0] if len(pairs) == 1 and pairs[0][0] == pairs[0][1] else None


def tiles(evidence: Evidence) -> tuple[tuple[int, ...], int, int] | None:
    """Return the grid of the last launch, and how many tiles there are down and across.

    None if the size of a tile is unknown.
    """
    sides = sides_of_tile(evidence) or _side_of_square(evidence)
    if sides is None:
        return None
    rows, columns = evidence.expected.shape
    grid = evidence.launches[-1].grid
    return grid, math.ceil(rows / sides[0]), math.ceil(columns / sides[1])


def grid_axes_swapped(evidence: Evidence) -> bool:
    """Return whether the grid has the tiles of each axis on the other one.

    The start of the second program shows which axis of the grid moves along a row.
    """
    sides, found = sides_of_tile(evidence) or _side_of_square(evidence), aim(evidence)
    if sides is None or found is None or found.firsts[0] != 0:
        return False
    rows, columns = evidence.expected.shape
    grid = evidence.launches[-1].grid
    down, across = math.ceil(rows / sides[0]), math.ceil(columns / sides[1])
    if down == across or sorted((*grid, 1)[:2]) != sorted((down, across)):
        return False
    if sides[1] == sides[0] * columns:  # a tile to the right and one below start alike
        return has_holes(evidence)
    due = {sides[1]: across, sides[0] * columns: down}
    moves = zip((*grid, 1)[:2], found.firsts[1:3], strict=False)
    return any(due.get(start or 0, size) != size for size, start in moves)


def has_a_program_for_each_tile(evidence: Evidence) -> bool:
    """Return whether the grid has a program for each tile on both axes, if it has two."""
    known = tiles(evidence)
    if known is None:
        return False
    grid, down, across = known
    used = [size for size in grid if size > 1]
    if len(used) < 2:
        return math.prod(grid) >= down * across
    return grid[0] >= down and grid[1] >= across


def leaves_tiles_out(evidence: Evidence) -> bool:
    """Return whether tiles are missing although the grid had a program for each."""
    missing = evidence.never_stored
    if missing is None or not missing.any() or missing.all():
        return False
    known = tiles(evidence)
    if known is None or known[1] * known[2] < 2 or not has_a_program_for_each_tile(evidence):
        return False
    flat = sum(size > 1 for size in known[0]) == 1
    stuck = stuck_on_first_tile(evidence) and not idle_programs(evidence)
    return not stuck and (flat or not stays_along_one_axis(evidence))


def programs_left_over(evidence: Evidence) -> bool:
    """Return whether a one-axis grid has more programs than tiles, and some left a tensor."""
    known = tiles(evidence)
    if known is None or not has_fault(evidence, STRAYS):
        return False
    grid, down, across = known
    return len([size for size in grid if size > 1]) == 1 and math.prod(grid) > down * across > 0


def too_few_programs(evidence: Evidence) -> bool:
    """Return whether each program stored at most one tile, and there are fewer than tiles."""
    known, found = tiles(evidence), aim(evidence)
    if known is None or found is None or found.passed is None or not has_holes(evidence):
        return False
    count = math.prod(known[0])
    one_each = found.storing == count and found.passed <= count * found.lanes
    return one_each and 0 < count < known[1] * known[2]


def ran_out_of_tiles(evidence: Evidence) -> bool:
    """Return whether rows or columns at the end are missing because there are too few programs."""
    if too_few_programs(evidence):
        return True
    if leaves_tiles_out(evidence) or stored_twice(evidence):
        return False
    if idle_programs(evidence) and not stuck_on_first_tile(evidence):
        return False
    corner = stored_corner(evidence)
    if came_to_all(evidence):
        return False
    if corner is not None:
        # With few tiles, or along one edge, this looks the same as being stuck on the first.
        few = tiles_beyond(evidence, corner) <= 4 and not enough_programs(evidence)
        return not stuck_on_first_tile(evidence) or few or reaches_an_edge(evidence, corner)
    return ran_out_of_programs(evidence)
