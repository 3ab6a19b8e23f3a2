"""What counts as solved in the lesson on strides: any 2D view, read by its own arithmetic."""

from __future__ import annotations

from dataclasses import replace

import torch

from graders.course.common import detectors, placement, rounding, shared, strides
from graders.course.common.detectors import has_fault
from graders.course.common.expected import computes, computes_with_block
from graders.course.common.launch_order import launch_order
from graders.judge.cases.builders import ALL_VIEWS, ANY_DTYPE, cases, one
from graders.judge.records import Evidence, Exercise, Misconception

AXES = "rows columns"
OBLONG = (4, 8, 16, 32, 64, 128)  # sides to try for a reshaped tile with two different sides
WRITES_OUTSIDE = frozenset({"out-of-bounds-store"})
LAUNCH_ORDER = launch_order(
    ("n_rows", "n_cols"), ("stride_row", "stride_col"), lambda x: (*x.shape, *x.stride())
)
_OF_ANY_BLOCK = placement.mask_sizes_exchanged("n_rows", "n_cols")


def _of_tiles(evidence: Evidence) -> bool:
    """Return whether tiles show it; in a flat block, a wrong divisor reaches the same elements."""
    found, detector = detectors.aim(evidence), _OF_ANY_BLOCK.detector
    flat = found is not None and found.lanes in evidence.launches[-1].meta.values()
    return not flat and detector is not None and detector(evidence)


MASK_SIZES_EXCHANGED = replace(_OF_ANY_BLOCK, detector=_of_tiles)

CASES = (
    *cases(one, AXES, [(64, 64), (100, 100), (37, 53), (90, 7), (128, 32), (32, 128)]),
    *cases(one, AXES, [(300, 500)], why="Many blocks, whatever their size."),
    *cases(one, AXES, [(33, 70)], draws=2, engine_orders=True),
    *cases(one, AXES, [(1, 1), (1, 1000), (1000, 1), (15, 17), (16, 16), (33, 31)], part="edges"),
    *cases(one, AXES, [(127, 129), (0, 5), (5, 0), (2, 3), (3, 1100), (1100, 3)], part="edges"),
    *cases(one, AXES, [(24, 40), (37, 21)], part="views", views=ALL_VIEWS),
    *cases(one, AXES, [(1, 33), (33, 1)], part="views", views=["sliced", "stepped_columns"]),
    *cases(
        one,
        AXES,
        [(9, 8)],
        part="views",
        views=["far"],
        dtypes=[torch.uint8],
        why="The last row is more than 2**31 elements after the first.",
    ),
    *cases(
        one,
        AXES,
        [(8, 9)],
        part="views",
        views=["far_columns"],
        dtypes=[torch.uint8],
        why="The last column is more than 2**31 elements after the first.",
    ),
    *cases(one, AXES, [(19, 23)], part="types", dtypes=ANY_DTYPE),
    *cases(
        one,
        AXES,
        [(17, 12)],
        part="types",
        dtypes=[torch.int64, torch.bfloat16, torch.bool],
        views=["transposed"],
    ),
    *cases(one, AXES, [(12, 30)], part="types", fills=["specials"], why="NaN and infinities."),
)
LARGE = (
    *cases(one, AXES, [(2053, 1531)], part="edges", why="Thousands of tiles."),
    *cases(one, AXES, [(70_001, 33)], part="edges", views=["sliced"], why="Many rows."),
)


STRIDED_COPY = Exercise(
    name="strided_copy",
    lesson="strides",
    title="Copy any 2D view",
    parameters=("x",),
    reference=lambda x: x,
    exact=True,
    cases=CASES,
    large=LARGE,
    hints=(
        "Each element has two addresses: one in the input and one in the output. Only the output "
        "is contiguous. What do you need to find element (2, 3) of a view whose rows are 10 "
        "elements apart?",
        "Number the elements of the *output*: element `i` is in row `i // n_cols` and column "
        "`i % n_cols`. In x it is at `row * stride_row + col * stride_col`. Start from "
        "`tl.program_id(0).to(tl.int64)`, because addresses can exceed 2**31.",
        "With `rows = offsets // n_cols`, `cols = offsets % n_cols` and `mask = rows < n_rows`: "
        "`x = tl.load(x_ptr + rows * stride_row + cols * stride_col, mask=mask)`, then "
        "`tl.store(output_ptr + offsets, x, mask=mask)`. Launch with `x.stride(0), x.stride(1)` "
        "for the strides.",
    ),
    challenge=(
        "Exchange the two strides at the launch and check again: which cases still pass, and why?"
    ),
    misconceptions=(
        LAUNCH_ORDER,
        shared.offset_in_32_bits(),
        strides.stored_transposed(lambda x: x),
        strides.row_stride_is_height(),
        strides.divided_by_wrong_size(),
        strides.strides_swapped(lambda x: x),
        strides.column_stride_ignored(lambda x: x),
        strides.output_strides_of_input(lambda x: x),
        shared.contiguous_assumed(lambda x: x),
        strides.flat_mask(),
        rounding.lossy_copy(),
        placement.rows_for_elements(),
        placement.starts_before_tensor(),
        MASK_SIZES_EXCHANGED,
        shared.missing_mask("a view", "n_rows and n_cols"),
        placement.mask_too_narrow("n_rows and n_cols"),
        shared.axis_ignores_pid(),
        shared.tiles_missing("n_rows", "n_cols"),
        *placement.misplaced_programs(),
    ),
    parts={"core": 3, "edges": 2, "views": 3, "types": 2},
    forbids=frozenset({"copies"}),
)


def _tiles_unturned(block: int, x: torch.Tensor) -> torch.Tensor:
    """Return tiles moved to the transposed place, not transposed inside; NaN after whole tiles."""
    rows, columns = x.shape
    result = torch.full((columns, rows), float("nan"), dtype=torch.float64)
    for i in range(0, rows - block + 1, block):
        for j in range(0, columns - block + 1, block):
            result[j : j + block, i : i + block] = x[i : i + block, j : j + block]
    return result


def _tiles_in_place(block: int, x: torch.Tensor) -> torch.Tensor:
    """Return tiles transposed inside, but not moved; NaN where no element of x arrives."""
    rows, columns = x.shape
    row, column = torch.meshgrid(torch.arange(columns), torch.arange(rows), indexing="ij")
    source_row = row // block * block + column % block
    source_column = column // block * block + row % block
    known = (source_row < rows) & (source_column < columns)
    flat = torch.where(known, source_row * columns + source_column, 0)
    result = x.double().reshape(-1)[flat]
    return result.masked_fill(~known, float("nan"))


def _half_transposed(block: int, x: torch.Tensor) -> list[torch.Tensor]:
    in_place = [_tiles_in_place(block, x)] if 0 < block < max(x.shape) and x.numel() else []
    return in_place if block > min(x.shape) else [_tiles_unturned(block, x), *in_place]


def _tiles_reshaped(block: int, x: torch.Tensor) -> list[torch.Tensor]:
    """Return tiles at the transposed place, elements in the order of x; NaN after whole tiles."""
    found = []
    for width in OBLONG:
        down, across = x.shape[0] // block, x.shape[1] // width
        if width == block or not down or not across:
            continue
        whole = x[: down * block, : across * width].reshape(down, block, across, width)
        turned = whole.transpose(1, 2).reshape(down, across, width, block)
        result = torch.full((x.shape[1], x.shape[0]), float("nan"), dtype=torch.float64)
        result[: across * width, : down * block] = turned.permute(1, 2, 0, 3).reshape(
            across * width, down * block
        )
        found.append(result)
    return found


def _output_rows_as_long_as_input(evidence: Evidence) -> bool:
    (x,) = evidence.args
    rows, columns = x.shape
    if columns > rows:
        return has_fault(evidence, WRITES_OUTSIDE)
    stored = detectors.stored_prefix(evidence)
    collided = has_fault(evidence, detectors.RACES)
    return columns < rows and (collided or stored == (columns - 1) * columns + rows)


TRANSPOSE = Exercise(
    name="transpose",
    lesson="strides",
    title="Transpose a matrix",
    parameters=("x",),
    reference=lambda x: x.t(),
    exact=True,
    cases=CASES,
    large=LARGE,
    hints=(
        "Take a matrix of 2 rows and 3 columns. Write down the memory of the input and the "
        "memory of the output. Where does element (1, 2) of x go?",
        "Row i of the output is column i of x, and each output row has `n_rows` elements. So "
        "element (i, j) of the output is at `i * n_rows + j`, and comes from row j and column "
        "i of x. Start from `tl.program_id(0).to(tl.int64)`.",
        "With `offsets` into the output and `mask = offsets // n_rows < n_cols`: `x = "
        "tl.load(x_ptr + (offsets % n_rows) * stride_row + (offsets // n_rows) * stride_col, "
        "mask=mask)`, then `tl.store(output_ptr + offsets, x, mask=mask)`.",
    ),
    challenge=(
        "Exchange the two strides of the input at the launch and check again: which cases "
        "still pass?"
    ),
    misconceptions=(
        LAUNCH_ORDER,
        shared.offset_in_32_bits(),
        Misconception(
            code="not-transposed",
            title="The elements are in the order of x",
            message=(
                "The output has the shape of the transposed matrix, but its elements are in the "
                "order of x. The kernel exchanges the two indices in neither the load nor the "
                "store, or in both."
            ),
            next_step=(
                "Load from `row * stride_row + col * stride_col`, store to `col * n_rows + row`."
            ),
            expected_wrong=computes(lambda x: x.reshape(x.shape[1], x.shape[0])),
        ),
        Misconception(
            code="output-stride-is-input-width",
            title="The rows of the output have the width of x",
            message=(
                "The kernel stores column `col` at `col * n_cols + row`. But a row of the "
                "output has one element for each *row* of x, so its length is `n_rows`. Only "
                "square matrices come out correct."
            ),
            next_step="Store to `col * n_rows + row`, or pass `output.stride(0)`.",
            detector=_output_rows_as_long_as_input,
        ),
        Misconception(
            code="tile-half-transposed",
            title="Only the tiles are transposed, or only their contents",
            message=(
                "A transpose moves tile (i, j) to the place (j, i), *and* rows become columns "
                "inside each tile. The kernel does only one of the two."
            ),
            next_step=(
                "Exchange rows and columns in the store's pointers and in its mask together. Or "
                "store `tl.trans(tile)` at the pointers of the output's tile."
            ),
            rules_out=frozenset({"grid-too-small", "offset-ignores-pid", "mask-too-narrow"}),
            expected_wrong=computes_with_block(_half_transposed, blocks=(8, 16, 32, 64)),
        ),
        Misconception(
            code="tile-reshaped",
            title="The tile is reshaped, not transposed",
            message=(
                "`tl.reshape` keeps the order of the elements: [[1, 2, 3], [4, 5, 6]] becomes "
                "[[1, 2], [3, 4], [5, 6]]. The transposed tile is [[1, 4], [2, 5], [3, 6]]."
            ),
            next_step=(
                "Use `tl.trans(tile)`. Or keep the tile and exchange the indices in the store: "
                "`n[None, :] * n_rows + m[:, None]`, and in its mask."
            ),
            expected_wrong=computes_with_block(_tiles_reshaped, blocks=OBLONG),
        ),
        strides.divided_by_wrong_size(turned=True),
        strides.strides_swapped(lambda x: x.t(), turned=True),
        strides.column_stride_ignored(lambda x: x.t()),
        shared.contiguous_assumed(lambda x: x.t()),
        strides.flat_mask(),
        rounding.lossy_copy(),
        placement.rows_for_elements(),
        placement.starts_before_tensor(),
        MASK_SIZES_EXCHANGED,
        shared.missing_mask("a matrix", "n_rows and n_cols"),
        placement.mask_too_narrow("n_rows and n_cols"),
        shared.axes_of_grid_swapped(),
        shared.axis_ignores_pid(),
        shared.tiles_missing("n_rows", "n_cols"),
        *placement.misplaced_programs(),
    ),
    parts={"core": 3, "edges": 2, "views": 3, "types": 2},
    forbids=frozenset({"copies"}),
)

EXERCISES = (STRIDED_COPY, TRANSPOSE)
