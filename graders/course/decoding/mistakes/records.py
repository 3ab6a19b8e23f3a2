"""The misconceptions about decoding, the special ones first."""

from __future__ import annotations

from dataclasses import replace

from graders.course.attention.mistakes import wrong_loops, wrong_results
from graders.course.attention.mistakes.records import MISTAKES as OF_ATTENTION
from graders.course.common import rounding, shared
from graders.course.common.detectors import RACES
from graders.course.common.expected import WIDE_BLOCKS, Results, computes
from graders.course.common.expected import computes_with_block as with_block
from graders.course.decoding.mistakes import marks
from graders.course.decoding.mistakes import wrong_merges as merges
from graders.course.decoding.mistakes import wrong_parts as parts
from graders.course.decoding.mistakes import wrong_sums as sums
from graders.course.decoding.mistakes.place_records import PLACE_MISTAKES, SEEN
from graders.course.decoding.mistakes.wrong_places import decode_anyway
from graders.course.decoding.reference import decode_magnitude
from graders.judge.records import ExpectedWrong, Misconception

BLOCKS = WIDE_BLOCKS[:5]  # of keys, that a step may take; wider ones take too long here


def with_blocks(
    *functions: Results, unless: frozenset[str] = frozenset()
) -> tuple[ExpectedWrong, ...]:
    """Return what mistakes in attention compute in each sequence, in steps of so many keys."""
    wrong = (sums.of_each_sequence(function) for function in functions)
    return with_block(*wrong, blocks=BLOCKS, unless=unless)


def _of_attention(code: str) -> Misconception:
    return next(record for record in OF_ATTENTION if record.code == code)


WEIGH = (
    "Compute `weight = tl.exp(lse - highest)` for each part. Add weight times part, and divide by "
    "the sum of the weights."
)

PART_MISTAKES = (
    Misconception(
        code="parts-averaged",
        title="All parts have the same weight in the average",
        message=(
            "Each part of the keys has its own sum of exponentials. A part with the best "
            "keys must have a larger weight than a part whose keys hardly matter."
        ),
        next_step=WEIGH,
        expected_wrong=computes(parts.merged_by(parts.averaged)),
    ),
    Misconception(
        code="parts-added",
        title="The parts are added",
        message=(
            "The output of each part is already an average, with weights that add up to 1. "
            "When you add the outputs, the weights add up to the number of parts."
        ),
        next_step=WEIGH,
        expected_wrong=computes(parts.merged_by(parts.added)),
    ),
    Misconception(
        code="maxima-not-merged",
        title="The parts are merged without their maxima",
        message=(
            "Sum and output of a part contain exp(score - maximum), and each part has its "
            "own maximum. Bring them to one maximum before you add them."
        ),
        next_step=(
            "Multiply sum *and* output of each part by exp(own maximum - largest "
            "maximum), then add, then divide. Or store log-sum-exps, and use them as "
            "weights."
        ),
        expected_wrong=computes(parts.merged_by(parts.without_maxima)),
    ),
    Misconception(
        code="sums-not-merged",
        title="The parts are weighted by their maxima alone",
        message=(
            "The weight of a part is its sum of exp(score): exp(maximum) times the sum "
            "from the loop. Here the second factor is missing, so a part with one good key "
            "counts as much as a part with ten."
        ),
        next_step="Weight a part by exp(lse), where `lse = maximum + tl.log(sum)`.",
        expected_wrong=computes(parts.merged_by(parts.without_sums)),
    ),
    Misconception(
        code="sums-counted-twice",
        title="The sum of a part counts twice",
        message=(
            "exp(lse) is the weight of an output that was divided by its sum. Here the "
            "output was not divided, so it contains that sum once more."
        ),
        next_step=(
            "Divide each part by its sum before you store it, or use exp(maximum) as its weight."
        ),
        expected_wrong=computes(parts.merged_by(parts.weighted_twice)),
        # where there is a single part, nothing is merged
        rules_out=frozenset({"merge-not-normalised", "denominator-of-one-part", "not-normalised"}),
    ),
    Misconception(
        code="merge-not-normalised",
        title="The merged parts are not divided by the sum of their weights",
        message=(
            "The weights of the parts, exp(lse - largest), do not add up to 1: the part "
            "with the largest log-sum-exp already has the weight 1."
        ),
        next_step=WEIGH,
        expected_wrong=computes(parts.merged_by(parts.not_normalised)),
    ),
    Misconception(
        code="denominator-of-one-part",
        title="The merged output is divided by the sum of one part",
        message=(
            "The kernel added the weighted outputs of all parts, but divided by the weight "
            "of a single part. The loop over the parts overwrites the total."
        ),
        next_step=(
            "Carry both: `output += weight * part` and `total += weight` (times the sum "
            "of the part, if parts are undivided). Divide once, after the loop."
        ),
        expected_wrong=computes(parts.merged_by(merges.divided_by_one)),
    ),
    Misconception(
        code="merge-weights-wrong",
        title="The weights of the parts are not exp(lse)",
        message=(
            "The kernel weighted the parts by something else, such as powers of 2, the "
            "log-sum-exps themselves, or inverted powers. exp is the inverse of the "
            "natural logarithm; exp2 needs log2."
        ),
        next_step=WEIGH,
        expected_wrong=computes(parts.merged_by(parts.other_weights)),
    ),
    Misconception(
        code="part-left-out",
        title="One part of the keys is not merged",
        message=(
            "The result contains all parts but the first, or all but the last. The number "
            "of parts was rounded down, or the loop begins at 1."
        ),
        next_step=("There are `tl.cdiv(length, part_size)` parts with keys. Merge from part 0 on."),
        expected_wrong=computes(parts.merged_by(parts.part_left_out)),
    ),
    Misconception(
        code="keys-counted-twice",
        title="Neighbouring parts share some keys",
        message=(
            "A part ends past the start of the next one, so both count the keys in "
            "between. Usually the last block is masked by the length, not by the part's "
            "own end."
        ),
        next_step=(
            "Part p has the keys from `p * part_size` to `end = min((p + 1) * part_size, "
            "length)`. Mask with `keys < end`."
        ),
        expected_wrong=computes(merges.counted_twice),
    ),
    Misconception(
        code="rescaling-missing",
        title="The earlier sum or output is not rescaled",
        message=(
            "A block raised the maximum, but the sum or the output so far still refers to "
            "the old maximum. Multiply both by exp(old - new)."
        ),
        next_step=(
            "Write `acc = acc * alpha[:, None] + ...` and `l = l * alpha + ...`, where "
            "`alpha = tl.exp(old_max - new_max)`."
        ),
        expected_wrong=computes(parts.not_rescaled) + with_blocks(wrong_loops.not_rescaled),
    ),
    Misconception(
        code="maximum-starts-at-zero",
        title="The maximum is never below zero",
        message=(
            "Where every score of a head is far below zero, the kernel subtracted 0 and "
            "not the highest score. Each exp becomes 0, and so does their sum."
        ),
        next_step=(
            'Start the maximum at `float("-inf")`, and give keys that do not exist the score -inf.'
        ),
        detector=marks.maximum_starts_at_zero,
    ),
    replace(_of_attention("max-not-subtracted"), detector=marks.maximum_missing),
    Misconception(
        code="empty-part-nan",
        title="A part without keys makes everything NaN",
        message=(
            "Some parts of a short sequence have no keys. The maximum of such a part is "
            "-inf, and -inf - (-inf) is NaN; so is 0 / 0."
        ),
        next_step=(
            "Leave parts without keys out of the merge (`part * part_size < length`), or "
            "store 0 as their output, -inf as their log-sum-exp, and subtract a *finite* "
            "maximum."
        ),
        detector=marks.empty_part_is_nan,
    ),
    Misconception(
        code="zero-length-nan",
        title="A sequence without keys is NaN",
        message=(
            "With a length of 0 the sum of the weights is 0, and 0 / 0 is NaN (as is -inf "
            "- (-inf)). The contract asks for zeros."
        ),
        next_step="Subtract a finite maximum, and divide by `tl.where(total > 0, total, 1.0)`.",
        detector=marks.nothing_is_nan,
    ),
    Misconception(
        code="zero-length-left-open",
        title="A sequence without keys is never stored",
        message=(
            "Only the sequences of length 0 are missing. A program that returns early "
            "because it has no keys leaves the output as `torch.empty` made it."
        ),
        next_step="Store zeros there: the program that stores the output must not return early.",
        detector=marks.nothing_is_left_open,
        places=True,
    ),
    Misconception(
        code="part-never-stored",
        title="The merge reads parts that no program stored",
        message=(
            "`torch.empty` does not initialise memory. Parts past the length of a sequence "
            "have no keys. Either a program stores something for them, or the merge must "
            "not load them."
        ),
        next_step=(
            "Load only parts with keys, with `mask=parts * part_size < length`. Compute "
            "the address of a part in the same way in both kernels."
        ),
        faults=frozenset({"uninitialised-read"}),
    ),
    Misconception(
        code="garbage-used",
        title="Garbage past a length changed the result",
        message=(
            "Past a length, an entry of the table may be any number, and a slot may hold "
            "NaN. NaN times a weight of 0 is NaN, so a mask on the scores alone is not "
            "enough."
        ),
        next_step=f"{SEEN} Give masked loads of values `other=0.0`.",
        detector=marks.garbage_used,
        places=True,
    ),
    shared.programs_race("The programs of several parts store to the same place of the output."),
)

OF_EACH: dict[str, tuple[Results, ...]] = {
    "scale-missing": (wrong_results.scaled_by(0.0),),
    "scale-without-root": (wrong_results.scaled_by(1.0),),
    "weights-scaled": (wrong_results.weights_scaled,),
    "base-two": (wrong_results.base_two,),
    "eps-added": (wrong_results.divided_by_sum_and_eps,),
    "not-normalised": (wrong_results.not_divided, wrong_results.divided_by_count),
}
WITH_BLOCK = {
    "padding-counted": with_blocks(wrong_loops.padding_counted),
    "divided-in-each-step": with_blocks(wrong_loops.divided_in_each_step),
    "tile-not-transposed": with_blocks(wrong_loops.keys_reshaped),
    "block-not-advanced": with_blocks(wrong_loops.same_block_again),
    "key-loop-missing": with_blocks(wrong_loops.first_keys, wrong_loops.fewer_keys),
    "hidden-too-little": with_blocks(wrong_loops.missing_too_little),
}
OTHER_SCALE = computes(sums.other_scales)
MIXED = computes(sums.operands_mixed)


def _shared(code: str, expected: tuple[ExpectedWrong, ...]) -> Misconception:
    """A misconception about attention as it shows in a sequence of a paged cache."""
    return replace(_of_attention(code), expected_wrong=expected, detector=None)


SUM_MISTAKES = (
    *(
        _shared(code, computes(*(sums.of_each_sequence(f) for f in functions)))
        for code, functions in OF_EACH.items()
    ),
    _shared("other-scale", OTHER_SCALE),
    _shared("operands-mixed", MIXED),
    *(_shared(code, expected) for code, expected in WITH_BLOCK.items()),
    Misconception(
        code="last-block-only",
        title="Only the last block, or the last part, of the keys is in the result",
        message=(
            "The output or the sum holds what the last step of the loop computed, or what "
            "the last part computed. The earlier ones are lost. Keys that fit into one "
            "block do not show it."
        ),
        next_step="Write `acc = acc * alpha[:, None] + ...` in the loop, and merge *all* parts.",
        expected_wrong=with_blocks(wrong_loops.last_block_alone, unless=RACES),
    ),
)

MISTAKES = (
    shared.offset_in_32_bits(),
    *PLACE_MISTAKES,
    *PART_MISTAKES,
    *SUM_MISTAKES,
    shared.other_missing("0.0"),
    shared.contiguous_assumed(decode_anyway),
    shared.missing_mask("a sequence, or a group of heads,", "the length"),
    shared.offset_ignores_pid(),
    shared.grid_too_small("b * hq * d"),
    rounding.tf32_product(),
    rounding.terms_in_half(decode_magnitude),
    rounding.computes_in_half(decode_magnitude),
)
