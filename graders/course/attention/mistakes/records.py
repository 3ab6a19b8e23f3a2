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
            "The kernel computes softmax(q @ k.T) without the factor 1/√d. Without it the "
            "scores grow with d, and one key gets nearly all the weight."
        ),
        next_step="Multiply the scores by `1 / sqrt(d)` before the softmax.",
        expected_wrong=computes(scaled_by(0.0)),
    ),
    Misconception(
        code="scale-without-root",
        title="The scores are divided by d, not by √d",
        message=(
            "The weights come out too even: the factor is 1/d, not 1/√d. (Scaling both q and "
            "k by 1/√d has the same effect.)"
        ),
        next_step="Multiply the scores by `1 / sqrt(d)`, once.",
        expected_wrong=computes(scaled_by(1.0)),
    ),
    Misconception(
        code="other-scale",
        title="The scores are scaled by another number than 1/√d",
        message=(
            "The factor fits another number than d, such as the number of queries or a block "
            "size; or it is √d, or 0. d is the length of one query, `q.shape[-1]`."
        ),
        next_step="Compute the factor in the launcher: `q.shape[-1] ** -0.5`.",
        expected_wrong=computes(other_scales) + computes_with_block(scaled_by_block),
    ),
    Misconception(
        code="weights-scaled",
        title="The weights are scaled, not the scores",
        message=(
            "The factor 1/√d comes after the softmax. So the weights of a query no longer add "
            "up to 1, and the softmax saw scores that are too large."
        ),
        next_step="Multiply the scores by the factor, before the maximum and exp.",
        expected_wrong=computes(weights_scaled),
    ),
    Misconception(
        code="operands-mixed",
        title="q, k and v are mixed up",
        message=(
            "The output is an attention, but q, k and v have other roles: two are exchanged, "
            "or one is used twice."
        ),
        next_step="Compare the arguments of the launch with the parameters, one by one.",
        expected_wrong=computes(operands_mixed),
    ),
    Misconception(
        code="queries-normalised",
        title="The softmax runs over the queries",
        message="The weights of each *key* add up to 1. The weights of each *query* should.",
        next_step="Take maximum and sum along the keys, `axis=1` of a (BLOCK_M, BLOCK_N) tile.",
        expected_wrong=computes(over_queries),
    ),
    Misconception(
        code="causal-ignored",
        title="The future is not hidden",
        message="With `causal=True` every query still sees all keys, as if the flag were False.",
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
            "The mask keeps j < i instead of j <= i. So query 0 sees no key at all, and its "
            "result is NaN (or 0)."
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
        message=(
            "With `causal=False` every query should see all keys, but here it sees only those "
            "up to its own position."
        ),
        next_step="Pass the flag to the kernel, and hide keys only if it is set.",
        expected_wrong=computes(always_causal),
    ),
    Misconception(
        code="causal-local-index",
        title="The causal mask compares positions within the blocks",
        message=(
            "The mask compares lanes of a block. It must compare a key's position among *all* "
            "keys with the query's position among all queries. So only the first block of "
            "queries is correct."
        ),
        next_step="Compare `pid_m * BLOCK_M + lanes` with `start_n + lanes`.",
        expected_wrong=walks_through_blocks(local_indices),
    ),
    Misconception(
        code="diagonal-block-skipped",
        title="The block of keys on the diagonal is skipped",
        message=(
            "Each query sees the blocks of keys before its own block, but not its own block: "
            "the loop ends one block too early. So query 0 sees no key at all."
        ),
        next_step="Loop up to `(block + 1) * BLOCK_M`, and compare positions in the tiles.",
        expected_wrong=computes_skipping(diagonal_skipped),
    ),
    Misconception(
        code="causal-loop-too-short",
        title="The loop over the keys ends before the last queries of the block",
        message=(
            "The last query of a block sees the most keys, but the loop ends earlier. So the "
            "later queries miss keys that they should see. When the two block sizes are "
            "equal, this does not show."
        ),
        next_step="Loop up to `(pid_m + 1) * BLOCK_M`, one past the block's last query.",
        expected_wrong=computes_skipping(ends_too_early),
    ),
    Misconception(
        code="causal-by-block",
        title="The mask decides for whole blocks of keys",
        message=(
            "The kernel takes or skips each block of keys as a whole. In a block on the "
            "diagonal some keys are in the future of some queries, and the kernel does not "
            "hide them."
        ),
        next_step="Skip blocks in the future to save time, and compare positions in the others.",
        expected_wrong=computes_with_block(by_whole_blocks),
    ),
    Misconception(
        code="causal-through-heads",
        title="The queries are numbered through all heads",
        message=(
            "The mask hides the future in the first head only. In the other heads each query "
            "counts as coming after all queries of the heads before, so it sees every key."
        ),
        next_step="A query's position starts at 0 in each head: take the row number modulo m.",
        expected_wrong=computes(numbered_through_heads),
    ),
    *OF_THE_SUM,
    Misconception(
        code="hidden-too-little",
        title="Hidden keys keep a part of their weight",
        message=(
            "A key in the future, or past the last key, gets a low score here, not -inf. "
            "exp(-10) is small but not 0, so the key counts when the real scores are low too."
        ),
        next_step='Use `float("-inf")` for the scores of hidden keys.',
        expected_wrong=computes(hidden_too_little) + computes_with_block(missing_too_little),
    ),
    Misconception(
        code="future-counted",
        title="Hidden keys still count in the softmax",
        message=(
            "A hidden key must have the score -inf *before* the maximum, exp and the sum. "
            "With the score 0, or with a weight set to 0 after the sum, it still adds to the "
            "sum."
        ),
        next_step='`s = tl.where(offs_m[:, None] >= offs_n[None, :], s, float("-inf"))` first.',
        expected_wrong=walks_through_blocks(future_in_the_sum),
    ),
    Misconception(
        code="hidden-block-nan",
        title="A block with only hidden keys gives NaN",
        message=(
            "If a query has seen no key so far, its maximum is still -inf, and -inf - (-inf) "
            "is NaN. The NaN stays in the sum and in the output."
        ),
        next_step=(
            "Subtract 0 instead of the maximum while the maximum is -inf, or skip blocks in "
            "which all keys are hidden."
        ),
        detector=nothing_visible,
    ),
    Misconception(
        code="base-two",
        title="The weights are powers of 2, not of e",
        message=(
            "exp2(x) is exp(x) only if you multiply x by log2(e) = 1.442695. (ln 2 is the "
            "inverse of that factor, and exp needs no factor.)"
        ),
        next_step="Use `tl.exp`, or multiply log2(e) into the scale of the scores.",
        expected_wrong=computes(base_two),
    ),
    Misconception(
        code="padding-counted",
        title="Keys that do not exist take part in the softmax",
        message=(
            "The last block of keys is not full. Its missing keys have the score 0 instead of "
            "-inf, so each adds to the sum. (Indices with `% n`, or clamped to the last key, "
            "count real keys twice.)"
        ),
        next_step='`s = tl.where(offs_n[None, :] < n, s, float("-inf"))` before the maximum.',
        expected_wrong=computes_with_block(padding_counted),
    ),
    shared.other_missing("0.0"),
    Misconception(
        code="rescaling-missing",
        title="The running sum or output is not rescaled",
        message=(
            "When a later block raises the maximum, the running sum and output still refer to "
            "the old one. Both must be multiplied by exp(old - new), in the base of the "
            "weights; the new terms must not."
        ),
        next_step=(
            "`acc = acc * alpha[:, None] + ...` and `l = l * alpha + ...`, with `alpha = "
            "tl.exp(old - new)`."
        ),
        expected_wrong=walks_through_blocks(not_rescaled),
    ),
    Misconception(
        code="last-block-only",
        title="The last block of keys replaces all others",
        message=(
            "Output or sum holds what the last step of the loop computed, not the total of "
            "all steps. Keys that fit into one block do not show it."
        ),
        next_step="`acc = acc * alpha[:, None] + ...`, starting from zeros before the loop.",
        expected_wrong=walks_through_blocks(last_block_alone, unless=RACES),
    ),
    Misconception(
        code="block-not-advanced",
        title="Every step of the loop loads the same block",
        message=(
            "Each step uses the keys, the values or both of the first block: the pointers do "
            "not move, or the load is before the loop."
        ),
        next_step="Load both inside the loop, at `start_n + tl.arange(0, BLOCK_N)`.",
        expected_wrong=walks_through_blocks(same_block_again),
    ),
    KEY_STEP_WRONG,
    Misconception(
        code="divided-in-each-step",
        title="The output is divided inside the loop",
        message=(
            "The sum of the weights is complete only after the last block of keys. Here the "
            "output is divided by an incomplete sum in each step."
        ),
        next_step="Divide once, after the loop: `acc / l[:, None]`.",
        expected_wrong=walks_through_blocks(divided_in_each_step),
    ),
    Misconception(
        code="eps-added",
        title="A small number is added to the sum",
        message=(
            "The divisor is the sum of the weights plus a small number, so the weights no "
            "longer add up to 1. The sum is never 0, because the best key adds exp(0) = 1."
        ),
        next_step="Divide by the sum alone: `acc / l[:, None]`.",
        expected_wrong=computes(divided_by_sum_and_eps),
    ),
    Misconception(
        code="parts-not-merged",
        title="The parts of the keys are averaged or added",
        message=(
            "Each part of the keys has its own maximum and sum. A plain average or sum gives "
            "the parts wrong weights."
        ),
        next_step=(
            "Rescale all parts to the largest maximum, by exp(own - largest). Then add "
            "outputs *and* sums, then divide."
        ),
        expected_wrong=computes_with_block(parts_not_merged),
    ),
    Misconception(
        code="tile-not-transposed",
        title="The tile of keys is reshaped, not transposed",
        message=(
            "A reshape keeps the order of the elements and only changes how they are split "
            "into rows. So each column of the result mixes pieces of several keys."
        ),
        next_step="Use `tl.trans(k)`, or load the tile with rows and columns exchanged.",
        expected_wrong=walks_through_blocks(keys_reshaped),
    ),
    Misconception(
        code="key-loop-missing",
        title="Some keys are left out",
        message=(
            "The softmax covers only the first keys: the loop over n is missing, drops the "
            "last partial block, or counts queries instead of keys."
        ),
        next_step="Loop over all n keys (n is `k.shape[-2]`): `range(0, n, BLOCK_N)`.",
        expected_wrong=walks_through_blocks(first_keys) + computes_with_block(fewer_keys),
    ),
    Misconception(
        code="not-normalised",
        title="The division by the sum is missing",
        message=(
            "The output is a sum of weighted values, and the weights do not add up to 1. "
            "(Dividing by the number of keys does not fix that.)"
        ),
        next_step="At the end, divide by the sum of the weights: `acc / l[:, None]`.",
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
    rounding.tf32_product(),
    rounding.terms_in_half(magnitude),
    rounding.computes_in_half(magnitude),
)
