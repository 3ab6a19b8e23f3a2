"""What counts as solved in the lesson on swizzling: the order in which tiles are launched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graders.course.common import detectors, shared, strays
from graders.course.common.requirements import BY_HAND
from graders.course.matmul.exercise import MATMUL, MATMUL_MISCONCEPTIONS
from graders.course.swizzling.mistakes import tile_by_tile
from graders.course.swizzling.mistakes.records import MISTAKES as SWIZZLE_MISTAKES
from graders.course.swizzling.reference import launch_order
from graders.judge.cases.builders import case
from graders.judge.records import (
    Case,
    Evidence,
    Exercise,
    Remark,
)


def tile_cases(sizes: list[tuple[int, int, int]], part: str, why: str = "") -> tuple[Case, ...]:
    """Return a case for each (n_rows, n_cols, group)."""
    return tuple(
        case(
            f"rows={rows} columns={columns} group={group}",
            (rows, columns, group),
            part=part,
            why=why,
        )
        for rows, columns, group in sizes
    )


SWIZZLE_IDS = Exercise(
    name="swizzle_ids",
    lesson="swizzling",
    title="The launch order of tiles",
    parameters=("n_rows", "n_cols", "group"),
    reference=launch_order,
    any_integer_dtype=True,
    cases=(
        *tile_cases([(4, 6, 2), (9, 9, 3), (8, 8, 4), (6, 4, 3), (16, 12, 8)], "core"),
        *tile_cases([(60, 40, 5)], "core", "Thousands of tiles."),
        *tile_cases(
            [(5, 4, 3), (5, 5, 3), (7, 5, 3), (9, 4, 2), (11, 3, 4), (33, 10, 8)],
            "last group",
            "The last group has fewer rows than the others.",
        ),
        *tile_cases([(6, 6, 8), (3, 7, 100)], "last group", "There is only one group."),
        *tile_cases([(1, 1, 1), (1, 10, 4), (10, 1, 4), (8, 8, 1), (5, 1, 2)], "edges"),
        *tile_cases([(0, 4, 2), (3, 0, 2)], "edges", "No tiles at all."),
    ),
    large=tile_cases([(3001, 1009, 7)], "edges", "Millions of tiles."),
    hints=(
        "Write the ids 0 to 19 into a matrix of 5 rows and 4 columns, in groups of 3 rows: down "
        "the rows of the group, then the next column. Where is id 12?",
        "A whole group has `group * n_cols` programs. Dividing by that gives the group of a "
        "program, and its first row. Within the group the row changes fastest. The last group may "
        "have fewer rows than `group`.",
        "`first = pid // (group * n_cols) * group`, `size = tl.minimum(n_rows - first, group)`, "
        "`within = pid % (group * n_cols)`. The row is `first + within % size`, the column is "
        "`within // size`. Store the row at `output_ptr + 2 * pid` and the column at `output_ptr "
        "+ 2 * pid + 1`.",
    ),
    challenge=(
        "Let the last group have `group` rows like the others and check again: which sizes "
        "still pass?"
    ),
    misconceptions=SWIZZLE_MISTAKES,
    forbids=frozenset({"copies"}),
    requirements=(BY_HAND,),
    parts={"core": 4, "last group": 4, "edges": 2},
)


def _tiles_lost(evidence: Evidence) -> bool:
    """Tiles are missing although there were programs enough for all of them."""
    missing = evidence.never_stored
    if missing is None or not missing.any() or missing.all():
        return False
    if detectors.has_fault(evidence, detectors.OUT_OF_BOUNDS):
        return False
    if detectors.too_few_programs(evidence):
        return False
    at_the_end = detectors.stored_corner(evidence) or detectors.stored_prefix(evidence)
    return not at_the_end or detectors.enough_programs(evidence)


def _before_the_start(evidence: Evidence) -> bool:
    """A tile with a negative number, though no program is left over."""
    left_over = detectors.programs_left_over(evidence)
    return strays.starts_before_tensor(evidence) and not left_over


TILES_LOST = replace(
    shared.tiles_lost(),
    detector=detectors.either(_tiles_lost, detectors.leaves_tiles_out, _before_the_start),
)

PRODUCT_MISTAKES = tuple(m for m in MATMUL_MISCONCEPTIONS if m.code != TILES_LOST.code)

# Rows of tiles that one group may reasonably have: more of them in a column are no group.
MOST_ROWS = 16
FEWEST_COLUMNS = 3


def _tile_by_tile(_launches: Any, traffic: Mapping[str, Mapping[str, Any]]) -> bool:
    """Programs that follow each other go along a whole row of tiles, or down a whole column.

    Then the blocks of one factor only ever rise in launch order. The factors are taken to be
    arguments of the kernel in their order.
    """
    loaded = [figures for figures in traffic.values() if figures.get("blocks", 0) > 2]
    if len(loaded) != 2:
        return False
    return any(
        figures["rising"] and figures["programs"] >= most * figures["blocks"]
        for figures, most in zip(loaded, (FEWEST_COLUMNS, MOST_ROWS + 1), strict=True)
    )


NOT_GROUPED = Remark(
    code="not-grouped",
    title="The product is correct, but its tiles are not grouped",
    message=(
        "Consecutive programs take a whole row (or column) of tiles; the contract asks for "
        "grouped order. Programs that run at the same time then share blocks of one factor "
        "only."
    ),
    next_step=(
        "Order the programs as `swizzle_ids` does, in groups of about 8 rows of tiles, and "
        "compare the hit rates of the lesson's model."
    ),
    applies=_tile_by_tile,
    promised=True,
)

GROUPED_MATMUL = replace(
    MATMUL,
    name="grouped_matmul",
    lesson="swizzling",
    title="A matrix product in grouped order",
    cases=(
        *MATMUL.cases,
        case(
            "m=330 k=20 n=210",
            tuple(
                replace(spec, shape=shape)  # type: ignore[type-var, misc]
                for spec, shape in zip(MATMUL.cases[0].args, ((330, 20), (20, 210)), strict=True)
            ),
            why="Many tiles, and a last group with fewer rows.",
        ),
        case(
            "m=1100 k=8 n=256",
            tuple(
                replace(spec, shape=shape)  # type: ignore[type-var, misc]
                for spec, shape in zip(MATMUL.cases[0].args, ((1100, 8), (8, 256)), strict=True)
            ),
            why="Several groups, and whole tiles along n.",
        ),
        case(
            "m=1100 k=8 n=300",
            tuple(
                replace(spec, shape=shape)  # type: ignore[type-var, misc]
                for spec, shape in zip(MATMUL.cases[0].args, ((1100, 8), (8, 300)), strict=True)
            ),
            why="Many tiles, and a last group with fewer rows.",
        ),
    ),
    hints=(
        "The tiles stay the same; only the order in which programs take them changes. Where does "
        "the kernel of lesson 08 compute its tile?",
        "The grid has one axis. Number the tiles as in `swizzle_ids`: there are `tl.cdiv(M, "
        "BLOCK_M)` rows and `tl.cdiv(N, BLOCK_N)` columns of tiles.",
        "`tiles_n = tl.cdiv(N, BLOCK_N)`, `first = pid // (GROUP * tiles_n) * GROUP`, `size = "
        "tl.minimum(tl.cdiv(M, BLOCK_M) - first, GROUP)`, `within = pid % (GROUP * tiles_n)`, "
        "`pid_m = first + within % size`, `pid_n = within // size`. Then use `pid_m` and `pid_n` "
        "where lesson 08 has `tl.program_id(0)` and `tl.program_id(1)`.",
    ),
    challenge=(
        "Number the tiles row by row again and check: the values stay correct, so what does "
        "the card say?"
    ),
    misconceptions=(TILES_LOST, *PRODUCT_MISTAKES, *tile_by_tile.MISTAKES),
    remarks=(NOT_GROUPED,),
)

EXERCISES = (SWIZZLE_IDS, GROUPED_MATMUL)
