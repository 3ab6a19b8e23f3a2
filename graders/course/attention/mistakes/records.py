"""The misconceptions about attention, the special ones first."""

from __future__ import annotations

from graders.course.attention.mistakes.addresses import (
    FIRST_HEAD_ONLY,
    HEADS_MIXED,
    KEY_STEP_WRONG,
    ROWS_AND_COLUMNS_EXCHANGED,
    STRIDES_EXCHANGED,
)
from graders.course.attention.mistakes.sum_records import OF_THE_SUM
from graders.course.attention.mistakes.wrong_loops import (
    by_whole_blocks,
    diagonal_skipped,
    divided_in_each_step,
    ends_too_early,
    fewer_keys,
    first_keys,
    keys_reshaped,
    last_block_alone,
    missing_too_little,
    not_rescaled,
    padding_counted,
    parts_not_merged,
    same_block_again,
    scaled_by_block,
)
from graders.course.attention.mistakes.wrong_results import (
    always_causal,
    base_two,
    divided_by_count,
    divided_by_sum_and_eps,
    future_in_the_sum,
    future_only,
    hidden_too_little,
    local_indices,
    not_divided,
    nothing_visible,
    numbered_through_heads,
    one_key_more,
    operands_mixed,
    other_scales,
    over_queries,
    scaled,
    scaled_by,
    weights_scaled,
)
from graders.course.attention.reference import attend, attention, hide, magnitude
from graders.course.common import rounding, shared
from graders.course.common.detectors import RACES
from graders.course.common.expected import (
    computes,
    computes_skipping,
    computes_with_block,
    walks_through_blocks,
)
from graders.judge.records import Misconception

MISTAKES = (
    Misconception(
        code="scale-missing",
        title="The scores are not scaled",
        message=(
            "softmax(q @ k.T) without the factor 1/√d: the larger d, the larger the scores, "
            "and the softmax turns into a hard choice of one key."
        ),
        next_step="Multiply the scores by `1 / sqrt(d)` before the softmax.",
        expected_wrong=computes(scaled_by(0.0)),
    ),
    Misconception(
        code="scale-without-root",
        title="The scores are divided by d, not by √d",
        message="The weights come out too even. (Scaling q and k both by 1/√d does the same.)",
        next_step="The factor is `1 / sqrt(d)`, once.",
        expected_wrong=computes(scaled_by(1.0)),
    ),
    Misconception(
        code="other-scale",
        title="The scores are scaled by another number than 1/√d",
        message=(
            "d is the length of one query, `q.shape[-1]`. The factor here fits another number: "
            "of queries, of keys, of a block, a fixed one; or the scores are multiplied by √d, "
            "or by 0 (a division of whole numbers)."
        ),
        next_step="Compute the factor in the launcher: `q.shape[-1] ** -0.5`.",
        expected_wrong=computes(other_scales) + computes_with_block(scaled_by_block),
    ),
    Misconception(
        code="weights-scaled",
        title="The weights are scaled, not the scores",
        message=(
            "The factor 1/√d comes after the softmax: the weights of a query no longer sum to 1, "
            "and the softmax saw scores that are too large."
        ),
        next_step="Multiply the scores, before maximum and exp.",
        expected_wrong=computes(weights_scaled),
    ),
    Misconception(
        code="operands-mixed",
        title="q, k and v are mixed up",
        message=(
            "The output is an attention, but with the three in other roles: two have changed "
            "places, or one of them is used twice."
        ),
        next_step="Compare the arguments of the launch with the parameters, one by one.",
        expected_wrong=computes(operands_mixed),
    ),
    Misconception(
        code="queries-normalised",
        title="The softmax runs over the queries",
        message="The weights of each *key* sum to 1; those of each query should.",
        next_step="Take maximum and sum along the keys, `axis=1` of a (BLOCK_M, BLOCK_N) tile.",
        expected_wrong=computes(over_queries),
    ),
    Misconception(
        code="causal-ignored",
        title="The future is not hidden",
        message="With `causal=True` every query still sees all keys: the flag has no effect.",
        next_step="Set the scores of keys j > i to -inf before maximum and exp.",
        expected_wrong=computes(
            lambda q, k, v, causal: attention(q, k, v, False) if causal else None
        ),
    ),
    Misconception(
        code="causal-reversed",
        title="The past is hidden instead of the future",
        message="Each query sees itself and the keys *after* it: the comparison is reversed.",
        next_step="Query i sees key j where j <= i.",
        expected_wrong=computes(future_only, where_finite=True),
    ),
    Misconception(
        code="causal-excludes-self",
        title="A query does not see its own key",
        message=(
            "The mask keeps j < i instead of j <= i. Query 0 then sees nothing at all, and a "
            "softmax of nothing is NaN (or 0)."
        ),
        next_step="Use `offs_m[:, None] >= offs_n[None, :]`.",
        expected_wrong=computes(
            lambda q, k, v, causal: attend(hide(scaled(q, k), causal, 0), v) if causal else None,
            where_finite=True,
        ),
    ),
    Misconception(
        code="causal-one-too-many",
        title="A query sees the key after its own",
        message="The mask keeps j <= i + 1 instead of j <= i.",
        next_step="Use `offs_m[:, None] >= offs_n[None, :]`.",
        expected_wrong=computes(one_key_more),
    ),
    Misconception(
        code="causal-always",
        title="The future is hidden although causal is False",
        message="With `causal=False` every query sees all keys; here it sees only the first ones.",
        next_step="Hand the flag to the kernel and hide keys only where it is set.",
        expected_wrong=computes(always_causal),
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
        expected_wrong=walks_through_blocks(local_indices),
    ),
    Misconception(
        code="diagonal-block-skipped",
        title="The block of keys on the diagonal is left out",
        message=(
            "Each query sees the blocks of keys before its own block, and not its own: the loop "
            "ends one block too early. Query 0 then sees no key at all."
        ),
        next_step="Walk up to `(block + 1) * BLOCK_M`, and compare the positions in that block.",
        expected_wrong=computes_skipping(diagonal_skipped),
    ),
    Misconception(
        code="causal-loop-too-short",
        title="The loop over the keys ends before the last queries of the block",
        message=(
            "A program has a block of queries, and the last of them sees the most keys. Here the "
            "loop ends earlier, so the later queries of the block miss keys that they may see. It "
            "goes unnoticed where blocks of keys are as large as blocks of queries."
        ),
        next_step="Walk up to `(pid_m + 1) * BLOCK_M`: one behind the block's last query.",
        expected_wrong=computes_skipping(ends_too_early),
    ),
    Misconception(
        code="causal-by-block",
        title="The mask decides for whole blocks of keys",
        message=(
            "A block of keys is walked through or left out as a whole. Within the block on the "
            "diagonal some keys lie in the future of some queries, and those are not hidden."
        ),
        next_step="Leave blocks out to save time, and compare the positions in the others.",
        expected_wrong=computes_with_block(by_whole_blocks),
    ),
    Misconception(
        code="causal-through-heads",
        title="The queries are numbered through all heads",
        message=(
            "In the first head the future is hidden. In the others each query counts as coming "
            "after all those of the heads before, so it sees every key."
        ),
        next_step="A query's position starts from 0 in each head: take the row number modulo m.",
        expected_wrong=computes(numbered_through_heads),
    ),
    *OF_THE_SUM,
    Misconception(
        code="hidden-too-little",
        title="Hidden keys keep a part of their weight",
        message=(
            "A key in the future, or one that does not exist, gets a low score here, not -inf. "
            "exp(-10) is small, but not 0: next to scores that are low themselves it counts."
        ),
        next_step="Use `-float('inf')`, or a number like -1e30 that no score comes near.",
        expected_wrong=computes(hidden_too_little) + computes_with_block(missing_too_little),
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
        expected_wrong=walks_through_blocks(future_in_the_sum),
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
        detector=nothing_visible,
    ),
    Misconception(
        code="base-two",
        title="The powers are powers of 2, not of e",
        message=(
            "exp2 is exp only when its argument is multiplied by log2(e) = 1.442695. (ln 2 is the "
            "inverse of that, and exp needs no factor.)"
        ),
        next_step="Use `tl.exp`, or put the factor into the scale of the scores.",
        expected_wrong=computes(base_two),
    ),
    Misconception(
        code="padding-counted",
        title="Keys that do not exist take part in the softmax",
        message=(
            "The last block of keys is not full. Its missing keys were loaded as 0, so their "
            "score is 0, not -inf, and exp(0) = 1 enters the sum for each of them. (Indices that "
            "are wrapped round with `% n`, or held at the last key, count real keys again.)"
        ),
        next_step="`s = tl.where(offs_n[None, :] < n, s, -float('inf'))` before the maximum.",
        expected_wrong=computes_with_block(padding_counted),
    ),
    shared.other_missing("0.0"),
    Misconception(
        code="rescaling-missing",
        title="What was summed before is not rescaled",
        message=(
            "When a later block of keys raises the maximum, the sum and the output so far "
            "still refer to the old one. Both must be multiplied by exp(old - new), with the "
            "same base as the weights; one of them, or both, was not, or what is new was."
        ),
        next_step="`acc = acc * alpha[:, None] + ...` and `l = l * alpha + ...`.",
        expected_wrong=walks_through_blocks(not_rescaled),
    ),
    Misconception(
        code="last-block-only",
        title="The last block of keys takes the place of all others",
        message=(
            "Output or sum holds what the last step of the loop computed, instead of what all "
            "steps add up to. Keys that fit into one block do not show it."
        ),
        next_step="`acc = acc * alpha[:, None] + ...`, from zeros before the loop.",
        expected_wrong=walks_through_blocks(last_block_alone, unless=RACES),
    ),
    Misconception(
        code="block-not-advanced",
        title="Every step of the loop meets the same block",
        message=(
            "Keys, values or both are those of the first block in each step: the pointers do not "
            "move, or the load stands before the loop."
        ),
        next_step="Load both within the loop, at `start_n + tl.arange(0, BLOCK_N)`.",
        expected_wrong=walks_through_blocks(same_block_again),
    ),
    KEY_STEP_WRONG,
    Misconception(
        code="divided-in-each-step",
        title="The output is divided inside the loop",
        message=(
            "The sum of the weights is complete only after the last block of keys. What was "
            "divided by the sum so far would have to be multiplied by it again."
        ),
        next_step="Divide once, after the loop: `acc / l[:, None]`.",
        expected_wrong=walks_through_blocks(divided_in_each_step),
    ),
    Misconception(
        code="eps-added",
        title="A small number is added to the sum",
        message=(
            "The divisor is the sum of the weights plus an eps, so the weights no longer sum to "
            "1. It is not needed: the best key adds exp(0) = 1, so the sum is never 0."
        ),
        next_step="`acc / l[:, None]`, without the eps.",
        expected_wrong=computes(divided_by_sum_and_eps),
    ),
    Misconception(
        code="parts-not-merged",
        title="The parts of the keys are put together as they are",
        message=(
            "Each part of the keys has a maximum and a sum of its own. Averaging or adding the "
            "parts gives each of them a weight that it does not have."
        ),
        next_step=(
            "Bring all parts to the largest maximum, by exp(own - largest), then add outputs "
            "*and* sums, then divide."
        ),
        expected_wrong=computes_with_block(parts_not_merged),
    ),
    Misconception(
        code="tile-not-transposed",
        title="The tile of keys is reshaped, not transposed",
        message=(
            "A reshape keeps the order of the elements and only counts rows and columns anew: "
            "each column of the result holds pieces of several keys."
        ),
        next_step="`tl.trans(k)`, or load the tile with rows and columns exchanged.",
        expected_wrong=walks_through_blocks(keys_reshaped),
    ),
    Misconception(
        code="key-loop-missing",
        title="Not all keys are looked at",
        message=(
            "The softmax runs over the beginning of the keys: the loop over n is missing, or ends "
            "before the last block that is not full, or goes by the number of queries."
        ),
        next_step="Walk through all n keys (n is `k.shape[-2]`), `range(0, n, BLOCK_N)`.",
        expected_wrong=walks_through_blocks(first_keys) + computes_with_block(fewer_keys),
    ),
    Misconception(
        code="not-normalised",
        title="The division by the sum is missing",
        message=(
            "The output is a sum of weighted values whose weights do not sum to 1. (Divided by "
            "the number of keys they do not, either.)"
        ),
        next_step="At the end divide by the sum of the weights: `acc / l[:, None]`.",
        expected_wrong=computes(not_divided, divided_by_count),
    ),
    HEADS_MIXED,
    STRIDES_EXCHANGED,
    ROWS_AND_COLUMNS_EXCHANGED,
    shared.contiguous_assumed(attention),
    FIRST_HEAD_ONLY,
    shared.missing_mask("a sequence", "m and n"),
    shared.axis_ignores_pid(),
    shared.tiles_missing("m", "d"),
    shared.offset_ignores_pid(),
    rounding.tf32_product(magnitude),
    rounding.terms_in_half(magnitude),
    rounding.computes_in_half(magnitude),
)
