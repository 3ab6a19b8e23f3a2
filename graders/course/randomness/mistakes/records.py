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
        title="Kept and dropped have changed places",
        message=(
            "The random numbers are the right ones. But what should be kept is dropped, and the "
            "other way round: `<` stands where `>=` belongs, or the branches of `tl.where` are "
            "exchanged. With p = 0.5 as many are kept as before, so a share alone does not show it."
        ),
        next_step=KEEP_AND_ADD,
        expected_wrong=computes(wrong.inverted),
    ),
    Misconception(
        code="compared-with-share-kept",
        title="The number is compared with 1 - p",
        message=(
            "Numbers below 1 - p are kept (or those above it). Below 1 - p lie as many as above p, "
            "so the share is right; but they are *other* elements, and the contract says which. A "
            "backward pass that asks `>= p` would use another mask than yours."
        ),
        next_step="`keep = tl.rand(seed, elements) >= p`.",
        expected_wrong=computes(wrong.below_share_kept),
    ),
    Misconception(
        code="p-taken-for-share-kept",
        title="p is taken for the share that is kept",
        message=(
            "As many elements are kept as should be dropped, and they are divided by p. p is the "
            "share that is *dropped*, as in torch; 1 - p is what is left."
        ),
        next_step=KEEP_AND_ADD,
        expected_wrong=computes(wrong.p_as_share_kept),
    ),
    Misconception(
        code="strictly-greater",
        title="A number that equals p is dropped",
        message=(
            "All is right but for an element whose random number is exactly p: it should be kept. "
            "There are 2**31 words at most to make numbers from, so in a large tensor it happens."
        ),
        next_step="Compare by `>=` (or drop by `<`).",
        expected_wrong=computes(wrong.strictly_greater),
    ),
    Misconception(
        code="scale-missing",
        title="What is kept is not scaled",
        message=(
            "The right elements are kept, but they are added as they are. A share p of x is gone, "
            "so on average the sum is smaller than x. Dividing what is left by 1 - p makes up for "
            "it, and then nothing has to be scaled when the model is used."
        ),
        next_step=ADD,
        expected_wrong=computes(wrong.not_scaled),
    ),
    Misconception(
        code="scaled-by-p",
        title="What is kept is divided by p",
        message=(
            "The share that is left is 1 - p, so that is what x is divided by. With p = 0.5 both "
            "are the same, which is why tests with p = 0.5 alone do not show it."
        ),
        next_step=ADD,
        expected_wrong=computes(wrong.divided_by_p),
    ),
    Misconception(
        code="scale-multiplied",
        title="What is kept is multiplied where it should be divided",
        message=(
            "The kept elements were multiplied by 1 - p, by p, or by 1 + p. That makes the sum "
            "smaller still, or does not make up for what is gone."
        ),
        next_step=f"Divide by 1 - p: {SUM}.",
        expected_wrong=computes(wrong.multiplied),
    ),
    Misconception(
        code="residual-scaled",
        title="The residual is scaled as well",
        message=(
            "The kept elements are (residual + x) / (1 - p). The scale makes up for what was "
            "dropped of x. Nothing of the residual is dropped."
        ),
        next_step="Mind the brackets: `residual + x / (1 - p)`.",
        expected_wrong=computes(wrong.residual_scaled),
    ),
    Misconception(
        code="residual-dropped",
        title="Where x is dropped, the residual is dropped too",
        message=(
            "Dropped elements came out as 0. Only x is dropped; the residual goes by on its own "
            "way, whole. That way is what makes deep networks learn."
        ),
        next_step="Elements that are not kept are `residual`, not 0.",
        expected_wrong=computes(wrong.residual_dropped),
    ),
    Misconception(
        code="residual-missing",
        title="The residual is not added to what is kept",
        message="The output is dropout(x) alone, or holds the residual only where x is dropped.",
        next_step=ADD,
        expected_wrong=computes(wrong.residual_missing),
    ),
    Misconception(
        code="tensors-exchanged",
        title="x and residual have changed places",
        message="The residual was dropped and scaled, and x was added to it.",
        next_step="Compare the order of the arguments at the launch with that of the kernel.",
        expected_wrong=computes(wrong.tensors_exchanged),
    ),
    Misconception(
        code="sign-wrong",
        title="A minus stands where the sum has a plus",
        message="What is kept of x is subtracted, or the residual is.",
        next_step=ADD,
        expected_wrong=computes(wrong.subtracted),
    ),
    Misconception(
        code="nothing-dropped",
        title="Nothing is dropped",
        message=(
            "Every element of x arrives. The random numbers are not asked, or all of them are "
            "large enough: those of `tl.rand` are none too small for 0, or for p rounded to an "
            "integer, and those of `tl.randint` are integers of 32 bits."
        ),
        next_step=KEEP_AND_ADD,
        expected_wrong=computes(wrong.nothing_dropped),
    ),
    Misconception(
        code="all-dropped",
        title="Everything is dropped",
        message="The output is the residual: no element of x arrives.",
        next_step=KEEP_AND_ADD,
        expected_wrong=computes(wrong.all_dropped),
    ),
    Misconception(
        code="dropped-by-product",
        title="NaN and infinity survive being dropped",
        message=(
            "What is dropped was multiplied by 0. Infinity times 0 is NaN, and so is NaN times 0, "
            "so that one bad number reaches the output although it was dropped."
        ),
        next_step=f"Choose instead of multiplying: {SUM}.",
        detector=wrong.dropped_by_product,
    ),
)

MEMORY_MISTAKES = (
    Misconception(
        code="strides-mixed",
        places=True,
        title="One tensor is read with the strides of the other",
        message=(
            "x and residual have the same shape, but each lies in memory in its own way: one may "
            "be a view and the other not. Here both are read with the same strides. Where both are "
            "dense, or views of the same kind, nothing shows."
        ),
        next_step="Work out two places: `places_of(...)` once with the strides of each tensor.",
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
