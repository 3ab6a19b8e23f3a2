"""The misconceptions about attention, the special ones first."""

from __future__ import annotations

from graders.judge import mistakes, rounding_mistakes
from graders.judge.attention_imitations import (
    always_causal,
    attend,
    attention,
    base_two,
    fewer_keys,
    first_head_only,
    first_keys,
    future_in_the_sum,
    future_only,
    hide,
    local_indices,
    magnitude,
    never_rescaled,
    not_divided,
    nothing_visible,
    one_key_more,
    other_heads,
    overflowed,
    padding_counted,
    rescaled_the_wrong_way,
    scaled,
    scaled_by,
    values_lie_like_keys,
)
from graders.judge.footprints import (
    computes,
    computes_with_block,
    either,
    nan_from_padding,
    where_finite,
)
from graders.judge.model import Misconception

MISTAKES = (
    Misconception(
        code="scale-missing",
        title="The scores are not scaled",
        message=(
            "softmax(q @ k.T) without the factor 1/√d: the larger d, the larger the scores, "
            "and the softmax turns into a hard choice of one key."
        ),
        next_step="Multiply the scores by `1 / sqrt(d)` before the softmax.",
        imitate=scaled_by(0.0),
    ),
    Misconception(
        code="scale-without-root",
        title="The scores are divided by d, not by √d",
        message="The weights come out too even. (Scaling q and k both by 1/√d does the same.)",
        next_step="The factor is `1 / sqrt(d)`, once.",
        imitate=scaled_by(1.0),
    ),
    Misconception(
        code="causal-ignored",
        title="The future is not hidden",
        message="With `causal=True` every query still sees all keys: the flag has no effect.",
        next_step="Set the scores of keys j > i to -inf before maximum and exp.",
        imitate=lambda q, k, v, causal: attention(q, k, v, False) if causal else None,
    ),
    Misconception(
        code="causal-reversed",
        title="The past is hidden instead of the future",
        message="Each query sees itself and the keys *after* it: the comparison is reversed.",
        next_step="Query i sees key j where j <= i.",
        footprint=where_finite(future_only),
    ),
    Misconception(
        code="causal-excludes-self",
        title="A query does not see its own key",
        message=(
            "The mask keeps j < i instead of j <= i. Query 0 then sees nothing at all, and a "
            "softmax of nothing is NaN (or 0)."
        ),
        next_step="Use `offs_m[:, None] >= offs_n[None, :]`.",
        footprint=where_finite(
            lambda q, k, v, causal: attend(hide(scaled(q, k), causal, 0), v) if causal else None
        ),
    ),
    Misconception(
        code="causal-one-too-many",
        title="A query sees the key after its own",
        message="The mask keeps j <= i + 1 instead of j <= i.",
        next_step="Use `offs_m[:, None] >= offs_n[None, :]`.",
        footprint=computes(one_key_more),
    ),
    Misconception(
        code="causal-always",
        title="The future is hidden although causal is False",
        message="With `causal=False` every query sees all keys; here it sees only the first ones.",
        next_step="Hand the flag to the kernel and hide keys only where it is set.",
        footprint=computes(always_causal),
    ),
    Misconception(
        code="causal-local-index",
        title="The causal mask compares places within the blocks",
        message=(
            "Whether a key lies in the future follows from its place among *all* keys and the "
            "query's among all queries. Here the lanes of the block are compared, so that only "
            "the first block of queries is right."
        ),
        next_step="Compare `pid_m * BLOCK_M + lanes` with `start_n + lanes`.",
        footprint=computes_with_block(local_indices),
    ),
    Misconception(
        code="future-counted",
        title="Hidden keys still count in the softmax",
        message=(
            "A key in the future must have the score -inf *before* maximum, exp and sum. With the "
            "score 0, or with weights that are set to 0 after the sum was taken, it takes its "
            "share of the sum."
        ),
        next_step="`s = tl.where(offs_m[:, None] >= offs_n[None, :], s, -float('inf'))` first.",
        footprint=computes_with_block(future_in_the_sum),
    ),
    Misconception(
        code="hidden-block-nan",
        title="A block of hidden keys alone gives NaN",
        message=(
            "Where a query may see no key of a block, its maximum is still -inf, and -inf - (-inf) "
            "is NaN. From there it stays in the sum and in the output."
        ),
        next_step=(
            "Subtract 0 in place of the maximum as long as that is -inf, or do not walk through "
            "blocks that nobody may see."
        ),
        footprint=nothing_visible,
    ),
    Misconception(
        code="base-two",
        title="The powers are powers of 2, not of e",
        message="exp2 is exp only when its argument is multiplied by log2(e) = 1.442695.",
        next_step="Use `tl.exp`, or put the factor into the scale of the scores.",
        footprint=computes(base_two),
    ),
    Misconception(
        code="max-not-subtracted",
        title="exp overflows: the maximum is not subtracted",
        message=(
            "Scores above 88 become inf under exp, and inf / inf is NaN. Where all scores of a "
            "row lie below -103, every exp becomes 0, and 0 / 0 is NaN as well: the maximum that "
            "is subtracted must be that of the row itself, of keys that exist."
        ),
        next_step="Compute `tl.exp(s - m_new[:, None])`.",
        footprint=overflowed,
    ),
    Misconception(
        code="padding-counted",
        title="Keys that do not exist take part in the softmax",
        message=(
            "The last block of keys is not full. Its missing keys were loaded as 0, so their "
            "score is 0, not -inf, and exp(0) = 1 enters the sum for each of them."
        ),
        next_step="`s = tl.where(offs_n[None, :] < n, s, -float('inf'))` before the maximum.",
        faults=frozenset({"masked-lanes-used"}),
        footprint=either(
            computes_with_block(padding_counted),
            nan_from_padding(lambda q, k, v, causal: k.shape[-2]),
        ),
    ),
    Misconception(
        code="rescaling-missing",
        title="What was summed before is not rescaled",
        message=(
            "When a later block of keys raises the maximum, the sum and the output so far "
            "still refer to the old one. Both must be multiplied by exp(old - new); one of "
            "them, or both, was not."
        ),
        next_step="`acc = acc * alpha[:, None] + ...` and `l = l * alpha + ...`.",
        footprint=either(
            computes_with_block(never_rescaled(True)),
            computes_with_block(never_rescaled(False)),
            computes_with_block(rescaled_the_wrong_way),
        ),
    ),
    Misconception(
        code="key-loop-missing",
        title="Not all keys are looked at",
        message=(
            "The softmax runs over the beginning of the keys: the loop over n is missing, or ends "
            "before the last block that is not full, or goes by the number of queries."
        ),
        next_step="Walk through all n keys (n is `k.shape[-2]`), `range(0, n, BLOCK_N)`.",
        footprint=either(computes_with_block(first_keys), computes_with_block(fewer_keys)),
    ),
    Misconception(
        code="not-normalised",
        title="The division by the sum is missing",
        message="The output is a sum of weighted values whose weights do not sum to 1.",
        next_step="At the end divide: `acc / l[:, None]`.",
        footprint=computes(not_divided),
    ),
    Misconception(
        code="heads-mixed",
        title="Heads or batches read each other's keys or values",
        message=(
            "The outputs stand in the right places, but some heads or batches were computed with "
            "the keys or values of another one: a pointer does not move with head and batch."
        ),
        next_step=(
            "Move all four pointers, by `batch * stride_b + head * stride_h`, each with its own "
            "strides."
        ),
        footprint=computes(other_heads),
    ),
    Misconception(
        code="strides-exchanged",
        title="v is read with the strides of k",
        message=(
            "Each tensor has strides of its own. As long as k and v lie alike in memory the "
            "mistake does not show."
        ),
        next_step="Pass `*v.stride()` as well, and use those for the pointers of v.",
        footprint=values_lie_like_keys,
    ),
    mistakes.contiguous_assumed(attention),
    Misconception(
        code="first-head-only",
        title="Only the first head was computed",
        message=(
            "The output of the first head (or of a few) is there and the others were never "
            "stored: no axis of the grid stands for heads and batches, or the pointers do "
            "not move with it."
        ),
        next_step="Add an axis of size `batch * heads` and step by the head's stride.",
        footprint=first_head_only,
    ),
    mistakes.missing_mask("a sequence", "m and n"),
    mistakes.axis_ignores_pid(),
    mistakes.tiles_missing("m", "d"),
    mistakes.offset_ignores_pid(),
    rounding_mistakes.tf32_product(magnitude),
    rounding_mistakes.terms_in_half(magnitude),
    rounding_mistakes.computes_in_half(magnitude),
)
