"""The misconceptions about dropout beside a residual, the special ones first."""

from __future__ import annotations

from dataclasses import replace

from graders.course.common import elementwise, rounding, shared, strides
from graders.course.common.detectors import READS_OUTSIDE, has_fault, tensors
from graders.course.common.expected import computes, computes_from_memory
from graders.course.randomness.mistakes import wrong_sums as wrong
from graders.course.randomness.mistakes.mask_records import MASK_MISTAKES
from graders.course.randomness.reference import dropout_residual, dropout_residual_magnitude
from graders.judge.records import Evidence, Misconception

SUM = "`tl.where(keep, residual + x / (1 - p), residual)`"
ADD = f"{SUM}."
KEEP_AND_ADD = f"`keep = tl.rand(seed, elements) >= p`, and then {SUM}."


def _reads_by_other_strides(evidence: Evidence) -> bool:
    """Tell whether reads went astray although one tensor is dense, and so the strides differ."""
    x, residual = tensors(evidence)
    return x.is_contiguous() != residual.is_contiguous() and has_fault(evidence, READS_OUTSIDE)


SUM_MISTAKES = (
    Misconception(
        code="mask-inverted",
        title="Kept and dropped elements are exchanged",
        message=(
            "The random numbers are correct, but the kernel drops what it should keep: it "
            "uses `<` in place of `>=`, or the branches of `tl.where` are exchanged. With "
            "p = 0.5 the fraction does not show it."
        ),
        next_step=KEEP_AND_ADD,
        expected_wrong=computes(wrong.inverted),
    ),
    Misconception(
        code="compared-with-share-kept",
        title="The number is compared with 1 - p",
        message=(
            "The kernel compares the random numbers with 1 - p. The fraction is correct, "
            "but these are *other* elements than the contract names."
        ),
        next_step="Write `keep = tl.rand(seed, elements) >= p`.",
        expected_wrong=computes(wrong.below_share_kept),
    ),
    Misconception(
        code="p-taken-for-share-kept",
        title="p is used as the probability of keeping",
        message=(
            "The kernel keeps as many elements as it should drop, and divides them by p. p "
            "is the probability of *dropping*, as in torch; 1 - p is the probability of "
            "keeping."
        ),
        next_step=KEEP_AND_ADD,
        expected_wrong=computes(wrong.p_as_share_kept),
    ),
    Misconception(
        code="strictly-greater",
        title="A number that equals p is dropped",
        message=(
            "Only elements whose random number is exactly p are wrong: they should be "
            "kept. `tl.rand` has at most 2**31 different numbers, so in a large tensor "
            "that happens."
        ),
        next_step="Compare by `>=` (or drop by `<`).",
        expected_wrong=computes(wrong.strictly_greater),
    ),
    Misconception(
        code="scale-missing",
        title="Kept elements are not scaled",
        message=(
            "The kernel keeps the correct elements, but adds them unscaled. On average the "
            "sum is then too small; dividing the kept elements by 1 - p compensates."
        ),
        next_step=ADD,
        expected_wrong=computes(wrong.not_scaled),
    ),
    Misconception(
        code="scaled-by-p",
        title="Kept elements are divided by p",
        message=(
            "The probability of keeping is 1 - p, so divide by that. With p = 0.5 both are "
            "the same, so a test with p = 0.5 alone does not show it."
        ),
        next_step=ADD,
        expected_wrong=computes(wrong.divided_by_p),
    ),
    Misconception(
        code="scale-multiplied",
        title="Kept elements are multiplied, not divided",
        message=(
            "The kernel multiplied the kept elements by 1 - p, by p, or by 1 + p. That "
            "does not compensate for the dropped elements."
        ),
        next_step=f"Divide by 1 - p: {SUM}.",
        expected_wrong=computes(wrong.multiplied),
    ),
    Misconception(
        code="residual-scaled",
        title="The residual is scaled as well",
        message=(
            "The kept elements are (residual + x) / (1 - p). The scale compensates for "
            "dropped elements of x. The residual is never dropped."
        ),
        next_step="Divide x alone: `residual + x / (1 - p)`.",
        expected_wrong=computes(wrong.residual_scaled),
    ),
    Misconception(
        code="residual-dropped",
        title="Where x is dropped, the residual is dropped too",
        message=(
            "Dropped elements are 0 in the output. Only x is dropped; the residual is always added."
        ),
        next_step="Where an element is dropped, store `residual`, not 0.",
        expected_wrong=computes(wrong.residual_dropped),
    ),
    Misconception(
        code="residual-missing",
        title="The residual is not added to kept elements",
        message=(
            "The output is dropout(x) alone, or contains the residual only where x is dropped."
        ),
        next_step=ADD,
        expected_wrong=computes(wrong.residual_missing),
    ),
    Misconception(
        code="tensors-exchanged",
        title="x and residual are exchanged",
        message="The kernel dropped and scaled the residual, and added x to it.",
        next_step="Compare the order of the arguments at the launch with that of the kernel.",
        expected_wrong=computes(wrong.tensors_exchanged),
    ),
    Misconception(
        code="sign-wrong",
        title="The sum has a minus in place of a plus",
        message="The kernel subtracts the kept elements of x, or the residual.",
        next_step=ADD,
        expected_wrong=computes(wrong.subtracted),
    ),
    Misconception(
        code="nothing-dropped",
        title="Nothing is dropped",
        message=(
            "Every element of x reaches the output. The kernel does not use the random "
            "numbers, or its comparison is always true: numbers of `tl.rand` are never "
            "below 0, and `tl.randint` gives 32-bit integers."
        ),
        next_step=KEEP_AND_ADD,
        expected_wrong=computes(wrong.nothing_dropped),
    ),
    Misconception(
        code="all-dropped",
        title="Everything is dropped",
        message="The output is the residual: no element of x reaches it.",
        next_step=KEEP_AND_ADD,
        expected_wrong=computes(wrong.all_dropped),
    ),
    Misconception(
        code="dropped-by-product",
        title="NaN and infinity survive being dropped",
        message=(
            "The kernel multiplied dropped elements by 0. Infinity times 0 is NaN, and so "
            "is NaN times 0, so one such number reaches the output."
        ),
        next_step=f"Use `tl.where` instead of a product: {SUM}.",
        detector=wrong.dropped_by_product,
    ),
)

MEMORY_MISTAKES = (
    Misconception(
        code="strides-mixed",
        places=True,
        title="One tensor is read with the strides of the other",
        message=(
            "x and residual have the same shape, but each has its own strides. The kernel "
            "reads both with the same strides. If both are dense, the mistake does not "
            "show."
        ),
        next_step="Call `places_of(...)` twice, once with the strides of each tensor.",
        expected_wrong=computes_from_memory(wrong.strides_mixed),
        detector=_reads_by_other_strides,
    ),
    strides.column_stride_ignored(dropout_residual),
    strides.output_strides_of_input(dropout_residual),
    elementwise.through_integers(),
    shared.contiguous_assumed(dropout_residual),
    rounding.computes_in_half(dropout_residual_magnitude),
    replace(rounding.lossy_dtype(dropout_residual), expected_wrong=computes(wrong.terms_in_half)),
    shared.missing_mask("a tensor"),
    shared.axis_ignores_pid(),
    shared.tiles_missing("n_rows", "n_cols"),
    shared.offset_ignores_pid(),
)

MISTAKES = (*SUM_MISTAKES, *MASK_MISTAKES, *MEMORY_MISTAKES)
