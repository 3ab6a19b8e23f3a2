"""Mistakes in the result of a kernel that scales the rows of a matrix."""

from __future__ import annotations

from dataclasses import replace

import torch

from graders.course.common import detectors, elementwise, rounding, shared, strides
from graders.course.common.expected import computes, computes_with_block
from graders.judge.records import Evidence, Misconception

VECTORS = (2, 4, 8, 16)


def scale_rows(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """Each row times its own number."""
    return x * s[:, None]


def _by_column(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor | None:
    """A number for each column, as long as there are some; what lies right of them is left open."""
    if s.numel() < 2:
        return None
    behind = x.new_full((max(x.shape[1] - s.numel(), 0),), float("nan"))
    return x * torch.cat((s, behind))[: x.shape[1]]


def _left_for_columns(evidence: Evidence) -> bool:
    """Whether there are more columns than scales, and a load left them."""
    x, s = evidence.args
    strayed = detectors.has_fault(evidence, detectors.READS_OUTSIDE)
    return x.shape[1] > s.numel() > 1 and strayed and _load_of_scales(evidence)


def _load_of_scales(evidence: Evidence) -> bool:
    x, s = evidence.args
    left = (fault for fault in evidence.faults if fault.code == "out-of-bounds-load")
    return x.dim() != s.dim() and any(f"shape {tuple(s.shape)}" in f.message for f in left)


def _last_row_left_out(evidence: Evidence) -> bool:
    """Just the last row was never stored."""
    missing = evidence.never_stored
    if missing is None or len(missing) < 2 or not missing.numel():
        return False
    return bool(missing[-1].all()) and not bool(missing[:-1].any())


def _by_remainder(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor | None:
    if not s.numel():
        return None
    numbers = torch.arange(x.numel()).reshape(x.shape) % s.numel()
    return x * s[numbers]


def _first_of_block(block: int, x: torch.Tensor, s: torch.Tensor) -> torch.Tensor | None:
    if block < 2 or not s.numel():
        return None
    return x * s[torch.arange(len(s)) // block * block][:, None]


def _first_block_again(block: int, x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    return x * s[torch.arange(len(s)) % block][:, None]


def _first_scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor | None:
    return x * s[0] if s.numel() else None


def _rounded_down(vector: int, x: torch.Tensor, s: torch.Tensor) -> torch.Tensor | None:
    """Rows taken to be whole vectors long, and to follow one another as such."""
    width = x.shape[1] // vector * vector
    if width == x.shape[1] or not s.numel():
        return None
    shorter = torch.full_like(x, float("nan")).flatten()
    lengths = x.flatten()[: len(s) * width].reshape(len(s), width)
    shorter[: len(s) * width] = (lengths * s[:, None]).flatten()
    return shorter.reshape(x.shape)


def _last_columns_left_out(evidence: Evidence) -> bool:
    """Whether just the columns beyond whole vectors were never stored."""
    missing = evidence.never_stored
    if missing is None or missing.dim() != 2 or not bool(missing.any()):
        return False
    n = missing.shape[1]
    widths = {n // vector * vector for vector in VECTORS} - {0, n}
    return any(bool(missing[:, w:].all()) and not bool(missing[:, :w].any()) for w in widths)


def _padded(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor | None:
    """Rows taken to lie as far apart as the next power of two; the last ones stay open."""
    width = 1 << max(x.shape[1] - 1, 0).bit_length()
    if width == x.shape[1] or not x.numel():
        return None
    flat = torch.full_like(x, float("nan")).flatten()
    for row in range(len(s)):
        part = slice(row * width, min(row * width + x.shape[1], len(flat)))
        flat[part] = x.flatten()[part] * s[row]
    return flat.reshape(x.shape)


MISTAKES: tuple[Misconception, ...] = (
    Misconception(
        code="untrue-hint",
        title="A hint to the compiler is false",
        message=(
            "`tl.multiple_of` or `tl.max_constancy` claims more than is true here: a row is "
            "not a whole number of vectors. The compiler trusts the hint, so a GPU may stop "
            "with a misaligned address."
        ),
        next_step=(
            "In the launcher, set VECTOR = 16 // x.element_size() if that divides the length "
            "of a row, else 1."
        ),
        faults=frozenset({"untrue-hint"}),
    ),
    Misconception(
        code="length-rounded-down",
        title="The length of a row is rounded down",
        message=(
            "The kernel rounds the row length down to a multiple of the vector, although the "
            "row is longer. The last columns are lost, and later rows may start too early."
        ),
        next_step=(
            "`n // VECTOR * VECTOR` must equal n: take VECTOR = 1 where 16 bytes do not "
            "divide a row."
        ),
        expected_wrong=computes_with_block(_rounded_down, blocks=VECTORS),
        detector=_last_columns_left_out,
        places=True,
    ),
    Misconception(
        code="mask-too-narrow",
        places=True,
        title="The last row is left out",
        message=(
            "All rows but the last are stored. The last row has the number n_rows - 1, and "
            "the mask excludes it."
        ),
        next_step="`rows < n_rows`, without the - 1.",
        detector=_last_row_left_out,
    ),
    Misconception(
        code="scale-by-column",
        places=True,
        title="The scales are applied to columns",
        message=(
            "Each column got its own scale. s has one scale for each *row*, the same for all "
            "its columns."
        ),
        next_step="Load s with the row offsets, and write `s[:, None]`.",
        expected_wrong=computes(_by_column),
        detector=_left_for_columns,
    ),
    Misconception(
        code="scale-by-remainder",
        title="The scale's index is a remainder",
        message=(
            "Element i of the whole matrix got the scale s[i % m]. Counted row after row, "
            "element i is in row i // n."
        ),
        next_step="Divide by the length of a row: `s_ptr + offsets // n`.",
        expected_wrong=computes(_by_remainder),
    ),
    Misconception(
        code="one-scale-for-block",
        title="All rows of a block get the scale of its first row",
        message="A block has several rows, but the kernel loads s only once for all of them.",
        next_step=(
            "Load as many scales as the block has rows, `tl.load(s_ptr + rows, mask=rows < "
            "m)`, and multiply by `s[:, None]`."
        ),
        expected_wrong=(
            *computes_with_block(_first_of_block),
            *computes(_first_scale),
        ),
    ),
    Misconception(
        code="scale-of-first-block",
        title="Every block uses the first scales of s",
        message=(
            "The rows of x move from block to block, but s is always loaded from its "
            "beginning, for example with `tl.arange(0, BLOCK_M)` alone."
        ),
        next_step="Load s with the same `rows` that address the rows of x.",
        expected_wrong=computes_with_block(_first_block_again),
    ),
    Misconception(
        code="row-length-is-block",
        places=True,
        title="Rows are taken to be a power of two apart",
        message=(
            "The kernel looks for the next row after as many elements as the block is wide. A "
            "row has n elements."
        ),
        next_step="Multiply the row number by n, not by the size of the block.",
        expected_wrong=computes(_padded),
    ),
    Misconception(
        code="wrong-operation",
        title="The scale is not multiplied with x exactly once",
        message=(
            "Each row meets its own scale, but the kernel adds, subtracts, divides or uses it "
            "twice, or returns x unchanged."
        ),
        next_step="Store `x * s[:, None]`.",
        expected_wrong=computes(
            lambda x, s: x + s[:, None],
            lambda x, s: x - s[:, None],
            lambda x, s: x / s[:, None],
            lambda x, s: x * s[:, None] ** 2,
            lambda x, s: x,
            lambda x, s: x + x * s[:, None],
        ),
    ),
    Misconception(
        code="scale-in-integers",
        title="The scale has lost its fraction",
        message=(
            "s was converted to an integer before the product: 0.7 becomes 0, and 1.9 becomes 1."
        ),
        next_step="Convert to float32 only: `s.to(tl.float32)`.",
        expected_wrong=computes(lambda x, s: x * s.trunc()[:, None]),
    ),
    Misconception(
        code="scale-mask-missing",
        places=True,
        title="The load of s reads past its end",
        message=(
            "Lanes after the last row read past the end of s: the load has no mask, or a mask "
            "that does not test the rows."
        ),
        next_step="`s = tl.load(s_ptr + rows, mask=rows < m)`.",
        detector=_load_of_scales,
    ),
    strides.stored_transposed(scale_rows),
    replace(strides.row_stride_is_height(), rules_out=frozenset({"tiles-lost"})),
    strides.flat_mask(),
    shared.missing_mask("the matrix", "n_rows and n_cols"),
    shared.axes_of_grid_swapped(),
    shared.programs_by_column(),
    shared.offset_ignores_pid(),
    shared.axis_ignores_pid(),
    shared.tiles_lost(),
    shared.tiles_missing("n_rows", "n_cols"),
    shared.programs_race("Blocks overlap."),
    elementwise.load_ignores_pid(scale_rows),
    elementwise.through_integers(),
    rounding.lossy_dtype(scale_rows),
)
