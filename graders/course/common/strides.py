"""Mistakes in finding an element of a 2D tensor: strides, row lengths, masks of tiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import torch

from graders.course.common.detectors import (
    OUT_OF_BOUNDS,
    RACES,
    READS_OUTSIDE,
    has_fault,
    has_holes,
    stored_prefix,
)
from graders.course.common.expected import Result, computes, computes_from_memory, each, read_as
from graders.course.common.strays import has_left, strays_in_view
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence, Misconception

WRITES_OUTSIDE = frozenset({"out-of-bounds-store", "gap-store"})


def _misread(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments with the first one's strides in every other order that stays in its storage."""
    first, *rest = args
    own = tuple(first.stride())
    for strides in permutations(own):
        read = read_as(first, tuple(first.shape), strides) if strides != own else None
        if read is not None:
            yield read, *rest


EXCHANGED = (
    "The strides of rows and columns are exchanged",
    "The kernel moves to the next *row* by the stride of the columns, and to the next column by "
    "the stride of the rows. A square matrix is read transposed; any other shape is read at wrong "
    "places.",
    "`x.stride(0)` belongs to the row index, `x.stride(1)` to the column index. Check the order of "
    "the arguments at the launch too, and that `//` gives the row and `%` the column.",
)
NOT_TURNED = (
    "Nothing is transposed: each stride is multiplied by the wrong index",
    "The row of the *output* is multiplied by `stride_row` and its column by `stride_col`, so "
    "nothing is transposed. Passing the strides in the wrong order at the launch does the same.",
    "Row i of the output is column i of x: load from `x_ptr + output_cols * stride_row + "
    "output_rows * stride_col`, and pass `x.stride(0), x.stride(1)` in this order.",
)


def strides_swapped(reference: Result, turned: bool = False) -> Misconception:
    """Return the misconception of row and column that use each other's stride.

    If the output is the `turned` (transposed) matrix, the usual cause is a missing transposition.
    """
    title, message, next_step = NOT_TURNED if turned else EXCHANGED

    def misread(*args: Any) -> list[torch.Tensor]:
        return each(reference(*widened(read)) for read in _misread(args))

    def detector(evidence: Evidence) -> bool:
        shape = evidence.expected.shape
        oblong = shape[0] != shape[1] and evidence.expected.numel() > 0
        # Exchanged strides show even without a view; unused strides show only with one.
        dense = evidence.args[0].is_contiguous()
        return oblong and dense and has_left(evidence, evidence.args[0])

    return Misconception(
        code="strides-swapped",
        places=True,
        title=title,
        message=message,
        next_step=next_step,
        expected_wrong=computes_from_memory(misread),
        detector=detector,
    )


def divided_by_wrong_size(
    turned: bool = False, combine: Callable[..., torch.Tensor] | None = None
) -> Misconception:
    """Return the misconception of a flat offset that is divided by the wrong number.

    The kernel addresses its output by one flat offset. `turned` says that the output is the
    transposed matrix. `combine(values, columns, *others)` makes the result from the values that
    were read, and the columns of the first argument that they came from; without it the values
    are the result.
    """

    def results(*args: Any) -> Iterator[torch.Tensor | None]:
        return _divided_wrongly(turned, combine, *args)

    def known(*args: Any) -> list[torch.Tensor]:
        return each(results(*args))

    def detector(evidence: Evidence) -> bool:
        x = evidence.args[0]
        rows, columns = x.shape[::-1] if turned else x.shape
        # A number that is too large gives too few rows: their mask lets lanes past the end through.
        if x.is_contiguous() and rows > columns and has_fault(evidence, OUT_OF_BOUNDS):
            return True
        leaves = any(result is None for result in results(*evidence.args))
        return leaves and has_left(evidence, x)

    length, other = ("n_rows", "n_cols") if turned else ("n_cols", "n_rows")
    return Misconception(
        code="divided-by-wrong-size",
        places=True,
        title="Row and column come from a division by the wrong size",
        message=(
            "The number of an output element was divided by the height of the matrix instead of "
            f"the length of a row. A row of the output has `{length}` elements; `{other}` fits "
            "square matrices only."
        ),
        next_step=(
            f"`offsets // {length}` is the row of the output, `offsets % {length}` its column."
        ),
        expected_wrong=computes_from_memory(known),
        detector=detector,
    )


def _divided_wrongly(
    turned: bool, combine: Callable[..., torch.Tensor] | None, x: torch.Tensor, *others: Any
) -> Iterator[torch.Tensor | None]:
    """The result of each wrong way to divide; None if it reads outside x.

    NaN if the mask of a row, or of row and column, leaves an element out.
    """
    rows, columns = x.shape
    right, wrong = (rows, columns) if turned else (columns, rows)
    if right == wrong or not x.numel():
        return
    shape = (columns, rows) if turned else (rows, columns)
    offsets = torch.arange(x.numel())
    for by, rest in ((wrong, wrong), (wrong, right), (right, wrong)):
        outer, inner = offsets // by, offsets % rest
        row, column = (inner, outer) if turned else (outer, inner)
        inside = outer < shape[0]
        for kept in (inside | True, inside, inside & (inner < shape[1])):
            places = row * x.stride(0) + column * x.stride(1)
            values = _lying_at(x, places.where(kept, 0))
            if values is not None and combine is not None:
                if int(column[kept].max()) >= columns:
                    continue
                values = combine(values, column.where(kept, 0), *others)
            if values is None or kept.all():
                yield values if values is None else values.reshape(shape)
            else:
                yield values.double().masked_fill(~kept, float("nan")).reshape(shape)


def _lying_at(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor | None:
    """What a kernel reads at these offsets from the first element; None if past the last one."""
    last = sum((n - 1) * by for n, by in zip(x.shape, x.stride(), strict=True))
    return x.as_strided((last + 1,), (1,))[places] if int(places.max()) <= last else None


def index_of_axes_wrong(reference: Result) -> Misconception:
    """Return the misconception of an offset that is split wrongly into several indices."""

    def known(x: torch.Tensor) -> list[torch.Tensor]:
        read = each(_taken_apart_wrongly(x))
        return each(reference(values.double()) for values in read)

    def detector(evidence: Evidence) -> bool:
        (x,) = evidence.args
        leaves = any(read is None for read in _taken_apart_wrongly(x))
        return leaves and has_left(evidence, x)

    return Misconception(
        code="index-of-axes-wrong",
        places=True,
        title="The number of an element is split into wrong indices",
        message=(
            "Each index but the first needs two steps: divide by the number of elements after "
            "that axis, then take the remainder by the length of *that* axis. Here one step is "
            "missing, or uses another axis's length."
        ),
        next_step=(
            "For shape (n0, n1, n2): `i2 = offs % n2`, `i1 = offs // n2 % n1`, and "
            "`i0 = offs // (n1 * n2)`."
        ),
        expected_wrong=computes_from_memory(known),
        detector=detector,
    )


def strides_padded_behind(reference: Result) -> Misconception:
    """Return the misconception of strides and shape that are padded at different ends."""

    def misread(x: torch.Tensor) -> list[torch.Tensor]:
        missing = 4 - x.dim()
        if missing < 1 or not x.numel():
            return []
        ones, own = (1,) * missing, tuple(x.shape)
        pairs = [
            (ones + own, (*x.stride(), *filler)) for filler in ((0,) * missing, (1,) * missing)
        ] + [(own + ones, (*filler, *x.stride())) for filler in ((0,) * missing, (1,) * missing)]
        read = each(read_as(x, shape, strides) for shape, strides in pairs)
        return each(reference(*widened((values.reshape(own),))) for values in read)

    return Misconception(
        code="strides-padded-behind",
        places=True,
        title="Shape and strides are padded to four axes at different ends",
        message=(
            "A tensor with fewer than four axes gets extra axes of length 1. If they are first in "
            "the shape and last in the strides, each index is multiplied by the stride of another "
            "axis."
        ),
        next_step=(
            "Add them at the front of both: `shape = (1,) * missing + shape` and `strides = (0,) "
            "* missing + strides`."
        ),
        expected_wrong=computes_from_memory(misread),
    )


def _taken_apart_wrongly(x: torch.Tensor) -> Iterator[torch.Tensor | None]:
    """What is read if one index has no remainder, or another axis's; None if outside x."""
    if x.dim() < 3 or not x.numel():
        return
    offsets = torch.arange(x.numel())
    behind = [math.prod(x.shape[axis + 1 :]) for axis in range(x.dim())]
    right = [offsets // behind[axis] % x.shape[axis] for axis in range(x.dim())]
    for axis in range(x.dim()):
        lengths = {*x.shape, x.numel()} - {x.shape[axis]}
        wrongly = [offsets // behind[axis] % length for length in lengths if axis]
        wrongly += [offsets // by % x.shape[axis] for by in {1, *x.shape, *behind} - {behind[axis]}]
        for index in wrongly:
            wrong = [*right[:axis], index, *right[axis + 1 :]]
            steps = zip(wrong, x.stride(), strict=True)
            places = torch.stack([index * step for index, step in steps]).sum(dim=0)
            values = _lying_at(x, places)
            yield None if values is None else values.reshape(x.shape)


def column_stride_ignored(reference: Result) -> Misconception:
    """Return the misconception of columns that are assumed to be neighbours in memory."""

    def misread(x: torch.Tensor, *others: Any) -> torch.Tensor | None:
        if x.stride(-1) == 1 or not x.numel():
            return None
        read = read_as(x, tuple(x.shape), (*x.stride()[:-1], 1))
        return None if read is None else reference(*widened((read, *others)))

    def detector(evidence: Evidence) -> bool:
        x = evidence.args[0]
        return x.stride(-1) != 1 and x.numel() > 0 and has_fault(evidence, READS_OUTSIDE)

    return Misconception(
        code="column-stride-ignored",
        places=True,
        title="The kernel assumes that columns are neighbours in memory",
        message=(
            "The kernel uses the stride of the rows, but within a row it steps by 1. In a "
            "transposed or stepped view, two neighbours in a row are `stride(1)` elements apart; "
            "in an expanded view they are the same element."
        ),
        next_step="Multiply the column by `stride_col` too.",
        expected_wrong=computes_from_memory(misread),
        detector=detector,
    )


def output_strides_of_input(reference: Result) -> Misconception:
    """Return the misconception of a dense output that is addressed by the strides of a view."""

    def written_like_input(x: torch.Tensor, *others: Any) -> torch.Tensor | None:
        want = reference(*widened((x, *others)))
        assert want is not None
        x = _of_shape(x, want)
        if x.is_contiguous() or _reach(x) != want.numel() or 0 in x.stride():
            return None
        line = torch.empty_like(want, memory_format=torch.contiguous_format).reshape(-1)
        line.as_strided(tuple(x.shape), x.stride()).copy_(want)
        return line.reshape(want.shape)

    def detector(evidence: Evidence) -> bool:
        want = evidence.expected
        x = _of_shape(evidence.args[0], want)
        if x.is_contiguous():
            return False
        if has_fault(evidence, WRITES_OUTSIDE):
            return True
        missing = evidence.never_stored
        if missing is None or not missing.any() or _reach(x) >= want.numel():
            return False
        reached = torch.zeros(want.numel(), dtype=torch.bool)
        reached.as_strided(tuple(x.shape), x.stride()).fill_(True)
        return torch.equal(missing.flatten(), ~reached)

    return Misconception(
        code="output-strides-of-input",
        places=True,
        title="The output is written with the strides of the input",
        message=(
            "The kernel loads correctly, but stores with the strides of x. The output is a new, "
            "contiguous tensor: its rows are `n_cols` elements apart, whatever view x is."
        ),
        next_step=(
            "Compute two offsets: `row * stride_row + col * stride_col` to load, and "
            "`row * n_cols + col` to store."
        ),
        expected_wrong=computes_from_memory(written_like_input),
        detector=detector,
    )


def _of_shape(x: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    """The input, or the one channel of an image, that has the shape of the output."""
    return x if x.shape == want.shape else x[0]


def _reach(x: torch.Tensor) -> int:
    """How many elements of memory x spans, from its first element to its last."""
    return sum((n - 1) * by for n, by in zip(x.shape, x.stride(), strict=True)) + 1


def stored_transposed(reference: Result) -> Misconception:
    """Return the misconception of an output that is filled column by column."""

    def by_columns(*args: Any) -> torch.Tensor | None:
        want = reference(*args)
        if want is None or min(want.shape) < 2:
            return None
        return want.t().reshape(want.shape)

    return Misconception(
        code="stored-transposed",
        title="The output is filled column by column",
        message=(
            "The values are correct, but in the order of the transposed matrix: element (i, j) "
            "was stored at `j * n_rows + i`. In a contiguous matrix of `n_cols` columns it "
            "belongs at `i * n_cols + j`."
        ),
        next_step="Store to `row * n_cols + col`.",
        expected_wrong=computes(by_columns),
    )


def row_stride_is_height(height: str = "n_rows", width: str = "n_cols") -> Misconception:
    """Return the misconception of a dense matrix whose rows are assumed as long as columns."""

    def detector(evidence: Evidence) -> bool:
        rows, columns = evidence.expected.shape
        if columns < rows:
            return bool(evidence.expected.numel()) and has_left(
                evidence, evidence.expected, OUT_OF_BOUNDS
            )
        if columns == rows:
            return False
        reached = (rows - 1) * rows + columns
        return stored_prefix(evidence) == reached or has_fault(evidence, RACES)

    return Misconception(
        code="row-stride-is-height",
        places=True,
        title="The kernel assumes that a row is as long as a column",
        message=(
            f"The kernel looks for the next row `{height}` elements further on, but a row has "
            f"`{width}` elements. Square matrices hide it. In wide matrices the rows overlap; in "
            "tall ones the kernel leaves the tensor."
        ),
        next_step=f"Address element (i, j) of a dense matrix as `i * {width} + j`.",
        detector=detector,
    )


def flat_mask(rows: str = "n_rows", columns: str = "n_cols") -> Misconception:
    """Return the misconception of a tile whose mask looks at the flat offset alone."""

    def detector(evidence: Evidence) -> bool:
        # In a dense matrix a lane then reads the start of the next row, without leaving it.
        stray = has_fault(evidence, RACES) or strays_in_view(evidence)
        return stray and not has_holes(evidence)

    return Misconception(
        code="flat-mask",
        places=True,
        title="Lanes past the last column reach the next row",
        message=(
            "The mask compares the output offset with the number of all elements. A lane past the "
            "last column passes it: its offset is that of the *next* row's first element. There "
            "it races with the program that owns that element."
        ),
        next_step=(
            f"Use `mask = (rows[:, None] < {rows}) & (cols[None, :] < {columns})` everywhere."
        ),
        detector=detector,
    )
