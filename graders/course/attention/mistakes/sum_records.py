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
        title="The maximum starts from a number, not from -inf",
        message=(
            "The running maximum starts at 0, or at a number such as -10000. If all scores of "
            "a query are lower, it stays there. About 103 below it every exp is 0, and 0 / 0 "
            "is NaN."
        ),
        next_step='Start with `tl.full((BLOCK_M,), float("-inf"), tl.float32)`.',
        expected_wrong=computes(underflowed_to_zero),
        detector=underflowed,
    ),
    Misconception(
        code="max-not-subtracted",
        title="exp overflows: the maximum is not subtracted",
        message=(
            "exp of a score above 88 is inf, and inf / inf is NaN. If all scores of a row are "
            "below -103, every exp is 0, and 0 / 0 is NaN too. Subtract the row's own maximum "
            "over existing keys."
        ),
        next_step="Compute `tl.exp(s - m_new[:, None])`.",
        detector=overflowed,
    ),
    Misconception(
        code="sum-of-tile",
        title="All queries of a tile are divided by one sum",
        message=(
            "The sum runs over the queries of the tile as well as the keys. So it is far too "
            "large, and the same for all queries."
        ),
        next_step="Sum along the keys only, `tl.sum(weights, axis=1)`: one number for each query.",
        expected_wrong=computes_with_block(summed_over_tile),
    ),
    Misconception(
        code="outputs-not-rescaled",
        title="The outputs of the parts are added without rescaling",
        message=(
            "Each part's output refers to its own maximum. Multiply it by exp(own maximum - "
            "common maximum) before you add it, like the part's sum. Keys that fit into one "
            "part do not show it."
        ),
        next_step="`acc += tl.exp(part_max - common_max) * part_output`, like the sums.",
        expected_wrong=computes_with_block(parts_not_rescaled, blocks=PARTS),
    ),
)
