"""The misconceptions about a product that fits into one tile: no loop, and one program."""

from __future__ import annotations

from dataclasses import replace

from graders.course.common.expected import both_factors, product_alone
from graders.course.common.placement import mask_sizes_exchanged
from graders.course.common.rounding import accumulates_in_half, lossy_dtype, tf32_product
from graders.course.common.shared import missing_mask, other_missing
from graders.course.common.strides import row_stride_is_height
from graders.course.matmul import reference as references
from graders.course.matmul.mistakes.bounds import bound_of_other_axis, ones_behind_k, reads_behind
from graders.course.matmul.mistakes.product import (
    cut_to_zero,
    elementwise_product,
    k_not_masked,
    k_wrapped,
)
from graders.judge.records import Evidence, Misconception

SIDE = 32  # of the tile


def _left_by_short_k(evidence: Evidence) -> bool:
    return evidence.args[0].shape[1] != SIDE and reads_behind(evidence)


def tile_mistakes(special: tuple[Misconception, ...]) -> tuple[Misconception, ...]:
    """Return the misconceptions of one masked `tl.dot`, with the `special` ones of two factors."""
    return (
        replace(k_not_masked(both_factors), detector=_left_by_short_k),
        other_missing("0.0", cut_to_zero(both_factors)),
        *special,
        k_wrapped(both_factors, product_alone),
        bound_of_other_axis(both_factors, product_alone),
        ones_behind_k(both_factors, product_alone),
        row_stride_is_height("M", "N"),
        mask_sizes_exchanged("M", "N"),
        elementwise_product(both_factors, product_alone),
        accumulates_in_half(references.product_magnitude),
        lossy_dtype(references.product),
        tf32_product(),
        missing_mask("a matrix", "M and N"),
    )
