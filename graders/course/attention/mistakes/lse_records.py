"""The misconceptions about attention that also returns the log-sum-exp of its scores."""

from __future__ import annotations

from dataclasses import replace

from graders.course.attention.mistakes import log_sum_exp as wrong
from graders.course.attention.mistakes.records import MISTAKES as OF_ATTENTION
from graders.course.attention.reference import attention_lse, lse_magnitude, magnitude
from graders.course.common import rounding, shared
from graders.course.common.expected import computes, walks_through_blocks
from graders.course.common.several import joined, only
from graders.judge.records import ExpectedWrong, Misconception

OF_LSE = only(
    1,
    Misconception(
        code="maximum-not-added",
        title="The maximum is not added back",
        message=(
            "The sum that the loop carries is one of exp(score - maximum). Its logarithm says "
            "nothing of how large the scores are: all scores + 100 give the same."
        ),
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.maximum_not_added),
    ),
    Misconception(
        code="maximum-not-scaled",
        title="The maximum that is added back lacks the factor 1/√d",
        message=(
            "The log-sum-exp is that of the scaled scores. Here the maximum was taken before the "
            "scale, so that it belongs to scores that are √d times as large."
        ),
        next_step="`row_max * scale + tl.log(row_sum)`, or scale before the maximum.",
        expected_wrong=computes(wrong.maximum_not_scaled),
    ),
    Misconception(
        code="log-forgotten",
        title="The sum is added, not its logarithm",
        message="exp(maximum) is a factor of the sum: in the logarithm it becomes a summand.",
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.log_forgotten),
    ),
    Misconception(
        code="sum-returned",
        title="The sum is returned, not its logarithm",
        message=(
            "The second result is the sum of the exponentials (or its inverse). Scores of a few "
            "hundred would make it overflow: that is why the logarithm is kept."
        ),
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.sum_returned),
    ),
    Misconception(
        code="maximum-returned",
        title="The second result is the largest score alone",
        message="The log-sum-exp is larger than the maximum: by the logarithm of the sum.",
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.maximum_returned),
    ),
    Misconception(
        code="other-logarithm",
        title="The logarithm is one to base 2",
        message=(
            "The contract asks for the natural logarithm. Who works with exp2 and scores times "
            "log2(e) has maximum and sum in base 2, and must multiply both by ln(2) at the end."
        ),
        next_step="`tl.log` is the natural one. From base 2: `(row_max + tl.log2(row_sum)) * ln 2`",
        expected_wrong=computes(wrong.other_logarithm),
    ),
    Misconception(
        code="sign-reversed",
        title="The log-sum-exp has the wrong sign",
        message="The second result is -log(sum): what is subtracted from a score later on is lse.",
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.sign_reversed),
    ),
    Misconception(
        code="log-of-mean",
        title="The sum is divided by the number of keys",
        message="The second result is the logarithm of a mean. With it the weights add up to n.",
        next_step="Take the logarithm of the sum as it is.",
        expected_wrong=computes(wrong.log_of_mean),
    ),
    Misconception(
        code="maximum-of-one-block",
        title="The maximum that is added belongs to one block of keys",
        message=(
            "The sum refers to the maximum of all keys, and so must what is added back. Here it "
            "is that of the last block (or of the first one)."
        ),
        next_step="Add `row_max`, which the loop carries, and not the maximum of a block.",
        expected_wrong=walks_through_blocks(wrong.maximum_of_last_block),
    ),
)
HEADS_COLLIDE = Misconception(
    code="heads-collide",
    title="All heads store their log-sum-exp in the same place",
    message=(
        "The pointer of the second result does not move with head and batch: the heads "
        "overwrite each other, and most of the result is never stored."
    ),
    next_step="`lse_ptr + batch_and_head * M + offs_m`: M numbers for each head.",
    detector=wrong.heads_collide,
)
HEAD_DISTANCE_WRONG = Misconception(
    code="head-distance-wrong",
    places=True,
    title="The heads of the log-sum-exp lie at a wrong distance",
    message=(
        "Of the second result, one head holds M numbers: one for each query, whatever the number "
        "of keys and of columns. With another distance all but the first head are stored at "
        "wrong places, and the last one leaves the tensor or lies over its neighbour."
    ),
    next_step=(
        "`lse_ptr + batch_and_head * M + offs_m`: M is the number of *queries*. The distance of "
        "the output is M * D, that of the keys N * D."
    ),
    detector=wrong.heads_misplaced,
    rules_out=frozenset({"missing-mask", "heads-collide"}),
)

ALSO_OF_LSE: dict[str, tuple[ExpectedWrong, ...]] = {
    "scale-missing": computes(wrong.with_factor(0.0)),
    "scale-without-root": computes(wrong.with_factor(1.0)),
    "causal-ignored": computes(wrong.with_mask(None)),
    "causal-one-too-many": computes(wrong.with_mask(2)),
    "causal-always": computes(wrong.always_causal),
    "future-counted": walks_through_blocks(wrong.future_counted),
    "padding-counted": walks_through_blocks(wrong.padding_counted),
    "key-loop-missing": walks_through_blocks(wrong.first_keys),
    "rescaling-missing": walks_through_blocks(wrong.not_rescaled),
    "last-block-only": walks_through_blocks(wrong.last_block_alone),
}
ROUNDING = {
    "tf32-product": joined(rounding.tf32_product(magnitude), rounding.tf32_product(lse_magnitude)),
    "lossy-dtype": joined(
        rounding.terms_in_half(magnitude),
        rounding.lossy_dtype(),
    ),
}
OF_BOTH = frozenset({"missing-mask", "other-missing", "offset-ignores-pid", "grid-too-small"})


def _of_both(record: Misconception) -> Misconception:
    """A misconception about attention as it shows in the two results."""
    if record.code in ROUNDING:
        return ROUNDING[record.code]
    if record.code == "computes-in-half":
        return joined(record, replace(record, detector=wrong.through_half))
    if record.code == "contiguous-assumed":
        return shared.contiguous_assumed(attention_lse)
    if record.code in ALSO_OF_LSE:
        return joined(
            record, replace(record, expected_wrong=ALSO_OF_LSE[record.code], detector=None)
        )
    return record if record.code in OF_BOTH else replace(record, result=0)


MISTAKES = (
    HEAD_DISTANCE_WRONG,
    HEADS_COLLIDE,
    *OF_LSE,
    *(_of_both(record) for record in OF_ATTENTION),
)
