"""The misconceptions about maximum and sum of the weights of attention."""

from __future__ import annotations

from graders.course.attention.mistakes.wrong_loops import (
    PARTS,
    parts_not_rescaled,
    summed_over_tile,
    underflowed_to_zero,
)
from graders.course.attention.mistakes.wrong_results import overflowed, underflowed
from graders.course.common.expected import computes, computes_with_block
from graders.judge.records import Misconception

OF_THE_SUM = (
    Misconception(
        code="maximum-from-zero",
        title="The maximum starts from 0, or another number above all scores",
        message=(
            "Where all scores of a query are negative, its maximum is 0 here, which no score has: "
            "it is kept running from 0 (or from a number like -10000, and scores may lie below "
            "that, too). Then nothing brings the exponents up to 0. Where all scores lie 103 below "
            "that number, every exp is 0, and 0 / 0 is NaN."
        ),
        next_step="Start with `tl.full((BLOCK_M,), -float('inf'), tl.float32)`.",
        expected_wrong=computes(underflowed_to_zero),
        detector=underflowed,
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
        detector=overflowed,
    ),
    Misconception(
        code="sum-of-tile",
        title="All queries of a tile are divided by one sum",
        message=(
            "Each query has weights of its own, which add up to 1 when they are divided by their "
            "own sum. Here the sum runs over the queries of the tile as well, so it is far too "
            "large, and the same for all of them."
        ),
        next_step="Sum along the keys alone, `tl.sum(weights, axis=1)`: one number for each query.",
        expected_wrong=computes_with_block(summed_over_tile),
    ),
    Misconception(
        code="outputs-not-rescaled",
        title="The outputs of the parts are added as they are",
        message=(
            "Each part of the keys has a maximum of its own, to which its output refers. Before "
            "the parts are added, each output must be multiplied by exp(own maximum - common "
            "maximum), as its sum is. Keys that fit into one part do not show it."
        ),
        next_step="`acc += tl.exp(part_max - common_max) * part_output`, like the sums.",
        expected_wrong=computes_with_block(parts_not_rescaled, blocks=PARTS),
    ),
)
