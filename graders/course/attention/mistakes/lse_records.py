"""The misconceptions about attention that also returns the log-sum-exp of its scores."""

from __future__ import annotations

from dataclasses import replace

from graders.course.attention.mistakes import log_sum_exp as wrong
from graders.course.attention.mistakes.records import MISTAKES as OF_ATTENTION
from graders.course.attention.reference import attention_lse, magnitude
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
            "The running sum adds up exp(score - maximum). Its logarithm alone does not "
            "contain the maximum: adding 100 to all scores would not change it."
        ),
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.maximum_not_added),
    ),
    Misconception(
        code="maximum-not-scaled",
        title="The maximum that is added lacks the factor 1/√d",
        message=(
            "The log-sum-exp is that of the scaled scores. Here the maximum was taken before "
            "scaling, so it is √d times too large."
        ),
        next_step="`row_max * scale + tl.log(row_sum)`, or scale before the maximum.",
        expected_wrong=computes(wrong.maximum_not_scaled),
    ),
    Misconception(
        code="log-forgotten",
        title="The sum is added, not its logarithm",
        message=(
            "The second result is row_max + row_sum. The factor exp(maximum) of the sum "
            "becomes an added maximum only after the logarithm."
        ),
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.log_forgotten),
    ),
    Misconception(
        code="sum-returned",
        title="The sum is returned, not its logarithm",
        message=(
            "The second result is the sum of the exponentials (or its inverse). That "
            "overflows for scores of a few hundred, so the contract asks for the logarithm."
        ),
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.sum_returned),
    ),
    Misconception(
        code="maximum-returned",
        title="The second result is the largest score alone",
        message=(
            "The second result is the maximum. The log-sum-exp is larger than that by the "
            "logarithm of the sum."
        ),
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.maximum_returned),
    ),
    Misconception(
        code="other-logarithm",
        title="The logarithm has base 2",
        message=(
            "The contract asks for the natural logarithm. With exp2 and scores times log2(e), "
            "both the maximum and log2(sum) are in base 2."
        ),
        next_step="`tl.log` is the natural one. From base 2: `(row_max + tl.log2(row_sum)) * ln 2`",
        expected_wrong=computes(wrong.other_logarithm),
    ),
    Misconception(
        code="sign-reversed",
        title="The log-sum-exp has the wrong sign",
        message="The second result is the negative log-sum-exp.",
        next_step="Store `row_max + tl.log(row_sum)`.",
        expected_wrong=computes(wrong.sign_reversed),
    ),
    Misconception(
        code="log-of-mean",
        title="The sum is divided by the number of keys",
        message=(
            "The second result is the logarithm of a mean. The weights that follow from it "
            "add up to n, not to 1."
        ),
        next_step="Take the logarithm of the sum, without dividing it.",
        expected_wrong=computes(wrong.log_of_mean),
    ),
    Misconception(
        code="maximum-of-one-block",
        title="The maximum that is added belongs to one block of keys",
        message=(
            "The sum refers to the maximum of all keys, but you add the maximum of the last "
            "block (or the first)."
        ),
        next_step="Add `row_max`, the running maximum, not the maximum of one block.",
        expected_wrong=walks_through_blocks(wrong.maximum_of_last_block),
    ),
)
HEADS_COLLIDE = Misconception(
    code="heads-collide",
    title="All heads store their log-sum-exp in the same place",
    message=(
        "The pointer of the second result does not move with head and batch. So the heads "
        "overwrite each other, and most of the result is never stored."
    ),
    next_step="`lse_ptr + batch_and_head * M + offs_m`: M numbers for each head.",
    detector=wrong.heads_collide,
)
HEAD_DISTANCE_WRONG = Misconception(
    code="head-distance-wrong",
    places=True,
    title="The heads of the log-sum-exp are a wrong distance apart",
    message=(
        "One head of the second result holds M numbers, one for each query. With another "
        "distance all heads but the first are stored in wrong places."
    ),
    next_step=(
        "`lse_ptr + batch_and_head * M + offs_m`: M is the number of *queries*. (One head "
        "of the output is M * D elements, one head of the keys N * D.)"
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
    "tf32-product": rounding.tf32_product(),
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
