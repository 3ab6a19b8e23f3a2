"""What counts as solved in the lesson on 2D tiles."""

from __future__ import annotations

from dataclasses import replace

import torch

from graders.course.common import (
    detectors,
    elementwise,
    placement,
    requirements,
    rounding,
    shared,
    strides,
)
from graders.course.common.launch_order import launch_order
from graders.course.common.remarks import STORED_BEFORE_THE_END
from graders.course.tiles_2d.mistakes.bias import BIAS_MISTAKES, read_elsewhere
from graders.course.tiles_2d.mistakes.greyscale import GREY_MISTAKES
from graders.course.tiles_2d.mistakes.outer_sum import OUTER_SUM_MISTAKES
from graders.course.tiles_2d.reference import bias_relu, grey, outer_sum
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, cases
from graders.judge.records import (
    Arg,
    Exercise,
    TensorSpec,
    Tolerance,
    View,
)

TILES_LOST = replace(
    shared.tiles_lost(),
    detector=lambda seen: detectors.leaves_tiles_out(seen) and not detectors.came_to_all(seen),
    rules_out=frozenset({"grid-too-small", "offset-ignores-pid"}),
)
TILES_COLLIDE = "The store uses rows or columns of another program's tile."
PICTURE_AXES = "height width"
BYTES = (torch.uint8,)
PICTURE_VIEWS: tuple[View, ...] = (
    "sliced",
    "transposed",
    "offset",
    "stepped_columns",
    "expanded_rows",
    "expanded_columns",
)


def two_vectors(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return x (m,) and y (n,), both as described by `spec`."""
    m, n = shape
    return TensorSpec((m,), **spec), TensorSpec((n,), **spec)  # type: ignore[arg-type]


SUM_AXES = "m n"
OUTER_SUM = Exercise(
    name="outer_sum",
    lesson="tiles_2d",
    title="Every sum of two vectors",
    parameters=("x", "y"),
    reference=outer_sum,
    magnitude=lambda x, y: x.abs()[:, None] + y.abs(),
    cases=(
        *cases(two_vectors, SUM_AXES, [(4, 7)], why="One tile, with lanes outside it."),
        *cases(two_vectors, SUM_AXES, [(100, 100), (37, 153), (90, 20)]),
        *cases(two_vectors, SUM_AXES, [(150, 301)], why="Many tiles, whatever their size."),
        *cases(two_vectors, SUM_AXES, [(33, 40)], engine_orders=True),
        *cases(two_vectors, SUM_AXES, [(1, 1), (1, 700), (700, 1), (0, 5), (5, 0)], part="edges"),
        *cases(two_vectors, SUM_AXES, [(40, 51)], part="types", dtypes=HALVES),
    ),
    large=cases(two_vectors, SUM_AXES, [(2053, 1531)], part="edges", why="Thousands of tiles."),
    hints=(
        "A tile has a row and a column number for each lane. Which of the two chooses the element "
        "of x, and which the element of y?",
        "Load x with the row numbers and y with the column numbers: two blocks of different "
        "length. `x[:, None]` is a column, `y[None, :]` is a row, and their sum is a tile. Store "
        "it at row * n_cols + column.",
        "`x = tl.load(x_ptr + rows, mask=rows < n_rows)` and `y = tl.load(y_ptr + cols, mask=cols "
        "< n_cols)`, with `rows` and `cols` from the text above. Store `x[:, None] + y[None, :]` "
        "at `output_ptr + rows[:, None] * n_cols + cols[None, :]`, with "
        "`mask=(rows[:, None] < n_rows) & (cols[None, :] < n_cols)`.",
    ),
    challenge="Exchange `rows` and `cols` in the two loads, and check: which shapes still pass?",
    misconceptions=(
        *OUTER_SUM_MISTAKES,
        strides.stored_transposed(outer_sum),
        strides.row_stride_is_height(),
        elementwise.through_integers(),
        strides.flat_mask(),
        rounding.lossy_dtype(outer_sum),
        placement.starts_before_tensor(),
        placement.mask_sizes_exchanged("n_rows", "n_cols"),
        shared.missing_mask("a vector", "n_rows and n_cols"),
        placement.mask_too_narrow("n_rows and n_cols"),
        shared.programs_race(TILES_COLLIDE),
        shared.axes_of_grid_swapped(),
        shared.axis_ignores_pid(),
        TILES_LOST,
        shared.tiles_missing("n_rows", "n_cols"),
        *placement.misplaced_programs(),
    ),
    parts={"core": 3, "edges": 1, "types": 1},
)


def picture(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return a picture of three channels, (3, height, width)."""
    return (TensorSpec((3, *shape), **spec),)  # type: ignore[arg-type]


RGB2GREY = Exercise(
    name="rgb2grey",
    lesson="tiles_2d",
    title="A colour picture in grey",
    parameters=("img",),
    reference=grey,
    magnitude=lambda img: grey(img.abs() if img.is_floating_point() else img),
    tolerance={torch.uint8: Tolerance(rel=0.0, acc=0.0, abs=1.0)},
    cases=(
        *cases(picture, PICTURE_AXES, [(64, 64), (100, 100), (37, 53), (90, 20), (20, 90)]),
        *cases(picture, PICTURE_AXES, [(150, 301)], why="Many tiles, whatever their size."),
        *cases(picture, PICTURE_AXES, [(60, 80), (31, 47)], dtypes=BYTES, why="A usual picture."),
        *cases(picture, PICTURE_AXES, [(33, 40)], engine_orders=True),
        *cases(picture, PICTURE_AXES, [(1, 1), (1, 700), (700, 1), (15, 17)], part="edges"),
        *cases(picture, PICTURE_AXES, [(31, 33), (65, 63), (0, 5), (5, 0)], part="edges"),
        *cases(picture, PICTURE_AXES, [(2, 1100), (1100, 2)], part="edges", why="Long, thin."),
        *cases(picture, PICTURE_AXES, [(5, 3), (3, 3)], part="edges", why="Three pixels wide."),
        *cases(picture, PICTURE_AXES, [(40, 51)], part="types", dtypes=HALVES),
        *cases(picture, PICTURE_AXES, [(24, 31)], part="types", fills=["specials"], dtypes=FLOATS),
        *cases(picture, PICTURE_AXES, [(24, 31)], part="types", fills=["ramp"], dtypes=BYTES),
        *cases(picture, PICTURE_AXES, [(24, 36)], part="views", views=PICTURE_VIEWS),
        *cases(
            picture,
            PICTURE_AXES,
            [(19, 30)],
            part="views",
            views=["sliced", "transposed"],
            dtypes=BYTES,
        ),
    ),
    large=cases(picture, PICTURE_AXES, [(2053, 1531)], part="edges", why="Thousands of tiles."),
    hints=(
        "One program turns one tile of pixels grey. Which three numbers does it need for one "
        "pixel, and how far apart are they in memory?",
        "The red pointers are `img_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col`. "
        "Green and blue are one and two channel strides further. The mask is the same for all "
        "three. The grid counts tiles down and tiles to the right.",
        "`mask = (rows[:, None] < height) & (cols[None, :] < width)`. Load each channel with "
        "`.to(tl.float32)`; `grey = 0.2989 * red + 0.5870 * green + 0.1140 * blue`; store "
        "`grey.to(output_ptr.dtype.element_ty)` at `output_ptr + rows[:, None] * width + "
        "cols[None, :]`. Launch with `grid = (triton.cdiv(height, block_h), triton.cdiv(width, "
        "block_w))`.",
    ),
    challenge=(
        "Remove the column condition from the mask and check again: which tile leaves its row?"
    ),
    misconceptions=(
        *GREY_MISTAKES,
        strides.stored_transposed(grey),
        strides.strides_swapped(grey),
        strides.column_stride_ignored(grey),
        strides.output_strides_of_input(grey),
        strides.row_stride_is_height("height", "width"),
        elementwise.through_integers(),
        shared.contiguous_assumed(grey),
        rounding.lossy_dtype(grey),
        rounding.computes_in_half(lambda img: grey(img.abs())),
        strides.flat_mask("height", "width"),
        placement.starts_before_tensor(),
        placement.mask_sizes_exchanged("height", "width"),
        shared.missing_mask("a picture", "height and width"),
        placement.mask_too_narrow("height and width"),
        shared.programs_race(TILES_COLLIDE),
        shared.axes_of_grid_swapped(),
        shared.axis_ignores_pid(),
        TILES_LOST,
        shared.tiles_missing("height", "width"),
        *placement.misplaced_programs(),
    ),
    parts={"core": 3, "edges": 2, "types": 2, "views": 3},
)


def bias_arguments(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return x (m, n) as described by `spec`, and a contiguous bias (n,)."""
    dense = {**spec, "view": "contiguous"}
    return TensorSpec(shape, **spec), TensorSpec(shape[1:], **dense)  # type: ignore[arg-type]


def viewed_bias(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return a contiguous x (m, n), and a bias (n,) as described by `spec`."""
    dense = {**spec, "view": "contiguous"}
    return TensorSpec(shape, **dense), TensorSpec(shape[1:], **spec)  # type: ignore[arg-type]


BIAS_AXES = "m n"
IN_ONE_KERNEL = replace(
    requirements.one_kernel("the whole of relu(x + bias)"),
    next_step="Add the bias to the loaded block, apply the ReLU, and store once.",
)
BIAS_RELU = Exercise(
    name="bias_relu",
    lesson="tiles_2d",
    title="Bias and ReLU in one pass",
    parameters=("x", "bias"),
    reference=bias_relu,
    magnitude=lambda x, bias: x.abs() + bias.abs(),
    cases=(
        *cases(bias_arguments, BIAS_AXES, [(64, 64), (100, 100), (37, 53), (90, 20), (20, 90)]),
        *cases(bias_arguments, BIAS_AXES, [(150, 301)], why="Many tiles, whatever their size."),
        *cases(bias_arguments, BIAS_AXES, [(33, 40), (40, 40)], engine_orders=True),
        *cases(bias_arguments, BIAS_AXES, [(1, 1), (1, 700), (700, 1), (15, 17)], part="edges"),
        *cases(bias_arguments, BIAS_AXES, [(31, 33), (65, 63), (0, 5), (5, 0)], part="edges"),
        *cases(bias_arguments, BIAS_AXES, [(2, 1100), (1100, 2)], part="edges", why="Long, thin."),
        *cases(bias_arguments, BIAS_AXES, [(40, 51)], part="types", dtypes=HALVES),
        *cases(bias_arguments, BIAS_AXES, [(24, 31)], part="types", scale=1e30),
        *cases(bias_arguments, BIAS_AXES, [(24, 31)], part="types", scale=1e-30),
        *cases(bias_arguments, BIAS_AXES, [(24, 36), (31, 17)], part="views", views=ALL_VIEWS),
        *cases(
            viewed_bias,
            BIAS_AXES,
            [(20, 40)],
            part="views",
            views=["stepped_columns", "offset"],
            label="bias",
        ),
    ),
    large=cases(bias_arguments, BIAS_AXES, [(2053, 1531)], part="edges", why="Many tiles."),
    hints=(
        "Every row gets the same biases, one number for each column. How many biases does a tile "
        "of 16 × 64 elements need?",
        "Load the tile of x with row and column offsets, as in `rgb2grey`. Load a row of biases "
        "*once*, with the column offsets. `bias[None, :]` repeats it for every row of the tile. "
        "Convert both to float32.",
        "`bias = tl.load(bias_ptr + cols * stride_bias, mask=cols < n_cols).to(tl.float32)`, x the "
        "same with its tile of pointers and mask. Store `tl.maximum(x + bias[None, :], "
        "0.0).to(output_ptr.dtype.element_ty)` once. Launch with `grid = (triton.cdiv(n_rows, "
        "block_m), triton.cdiv(n_cols, block_n))`.",
    ),
    challenge=(
        "Add the bias after the ReLU instead of before it and check again: which elements show it?"
    ),
    misconceptions=(
        launch_order(
            ("n_rows", "n_cols"),
            ("stride_row", "stride_col", "stride_bias"),
            lambda x, bias: (*x.shape, *x.stride(), *bias.stride()),
        ),
        *BIAS_MISTAKES,
        elementwise.another_activation("max(x + bias, 0)", lambda x, bias: x + bias),
        strides.stored_transposed(bias_relu),
        strides.divided_by_wrong_size(combine=read_elsewhere),
        strides.strides_swapped(bias_relu),
        strides.column_stride_ignored(bias_relu),
        strides.output_strides_of_input(bias_relu),
        strides.row_stride_is_height(),
        elementwise.through_integers(),
        shared.contiguous_assumed(bias_relu),
        strides.flat_mask(),
        rounding.lossy_dtype(bias_relu),
        placement.rows_for_elements(),
        placement.starts_before_tensor(),
        placement.mask_sizes_exchanged("n_rows", "n_cols"),
        shared.missing_mask("a matrix", "n_rows and n_cols"),
        placement.mask_too_narrow("n_rows and n_cols"),
        shared.programs_race(TILES_COLLIDE),
        shared.axes_of_grid_swapped(),
        shared.axis_ignores_pid(),
        TILES_LOST,
        shared.tiles_missing("n_rows", "n_cols"),
        *placement.misplaced_programs(),
    ),
    requirements=(IN_ONE_KERNEL,),
    remarks=(STORED_BEFORE_THE_END,),
    parts={"core": 3, "edges": 2, "types": 2, "views": 3},
)

EXERCISES = (OUTER_SUM, RGB2GREY, BIAS_RELU)
