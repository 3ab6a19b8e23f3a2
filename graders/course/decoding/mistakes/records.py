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
    "`weight = tl.exp(lse - highest)` for each part, then the sum of weight times part, divided by "
    "the sum of the weights."
)

PART_MISTAKES = (
    Misconception(
        code="parts-averaged",
        title="The parts are averaged as if all counted alike",
        message=(
            "Each part of the keys has a sum of exponentials of its own. A part that holds the "
            "best keys must count more than one whose keys hardly matter. That sum, as a "
            "logarithm, is what lesson 13 stored beside the result: the log-sum-exp."
        ),
        next_step=WEIGH,
        expected_wrong=computes(parts.merged_by(parts.averaged)),
    ),
    Misconception(
        code="parts-added",
        title="The parts are added",
        message=(
            "Each part is an average already, whose weights add up to 1. Added, all weights add up "
            "to the number of parts."
        ),
        next_step=WEIGH,
        expected_wrong=computes(parts.merged_by(parts.added)),
    ),
    Misconception(
        code="maxima-not-merged",
        title="The parts are merged without their maxima",
        message=(
            "Sum and output of a part hold exp(score - maximum), each part with a maximum of its "
            "own. They can be added only after all have been brought to one maximum."
        ),
        next_step=(
            "Multiply sum *and* output of each part by exp(own maximum - largest maximum); then "
            "add, then divide. Or store log-sum-exps, and weigh by those."
        ),
        expected_wrong=computes(parts.merged_by(parts.without_maxima)),
    ),
    Misconception(
        code="sums-not-merged",
        title="The parts are weighted by their maxima alone",
        message=(
            "How much a part counts is its sum of exp(score), which is exp(maximum) times the sum "
            "that the loop carried. Here the second factor is missing: a part with one good key "
            "counts as much as a part with ten of them."
        ),
        next_step="Weigh a part by exp(lse), where `lse = maximum + tl.log(sum)`.",
        expected_wrong=computes(parts.merged_by(parts.without_sums)),
    ),
    Misconception(
        code="sums-counted-twice",
        title="The sum of a part counts twice",
        message=(
            "exp(lse) is the weight of an output that was divided by its sum. Here the output was "
            "not divided, so that it holds that sum once more."
        ),
        next_step="Divide each part by its sum before it is stored, or weigh by exp(maximum).",
        expected_wrong=computes(parts.merged_by(parts.weighted_twice)),
        # where there is a single part, nothing is merged
        rules_out=frozenset({"merge-not-normalised", "denominator-of-one-part", "not-normalised"}),
    ),
    Misconception(
        code="merge-not-normalised",
        title="The merged parts are not divided by the sum of their weights",
        message=(
            "The weights of the parts, exp(lse - largest), do not add up to 1. The part with the "
            "largest log-sum-exp alone has the weight 1."
        ),
        next_step=WEIGH,
        expected_wrong=computes(parts.merged_by(parts.not_normalised)),
    ),
    Misconception(
        code="denominator-of-one-part",
        title="What is merged is divided by the sum of one part",
        message=(
            "The outputs of all parts were added, each with its weight, but the sum below them is "
            "that of a single part: in the loop over the parts it was set anew, not added to. The "
            "weights then add up to more than 1."
        ),
        next_step=(
            "Carry both: `output += weight * part` and `total += weight` (with the sum of the part "
            "as a factor, where the parts are not divided yet). Divide once, behind the loop."
        ),
        expected_wrong=computes(parts.merged_by(merges.divided_by_one)),
    ),
    Misconception(
        code="merge-weights-wrong",
        title="The weights of the parts are no powers of e of their log-sum-exps",
        message=(
            "The parts were weighted by something else: by powers of 2, by the log-sum-exps or the "
            "sums themselves, or by powers that are turned over. If logarithms are natural, exp is "
            "their inverse; who works with exp2 needs log2."
        ),
        next_step=WEIGH,
        expected_wrong=computes(parts.merged_by(parts.other_weights)),
    ),
    Misconception(
        code="part-left-out",
        title="One part of the keys is not merged",
        message=(
            "All parts but the first, or all but the last, are in the result. A number of parts "
            "that rounds down does that, and so does a loop that begins at 1."
        ),
        next_step="There are `tl.cdiv(length, part_size)` parts with keys. Merge from part 0 on.",
        expected_wrong=computes(parts.merged_by(parts.part_left_out)),
    ),
    Misconception(
        code="keys-counted-twice",
        title="Neighbouring parts share some keys",
        message=(
            "A part ends behind the start of the next one, or begins before the end of the one "
            "before. The keys between are read by both, and count twice. That happens where the "
            "last block of a part is masked by the length of the sequence, not by the part's own "
            "end, or where an end is rounded up to a page or a block and the starts are not."
        ),
        next_step=(
            "Part p has the keys from `p * part_size` to `min((p + 1) * part_size, length)`, and "
            "its mask is `keys < end`."
        ),
        expected_wrong=computes(merges.counted_twice),
    ),
    Misconception(
        code="rescaling-missing",
        title="What was summed before is not rescaled",
        message=(
            "Within a part of the keys, a block raised the maximum, and the sum or the output so "
            "far still refers to the old one. Both must be multiplied by exp(old - new)."
        ),
        next_step="`acc = acc * alpha[:, None] + ...` and `l = l * alpha + ...`.",
        expected_wrong=computes(parts.not_rescaled) + with_blocks(wrong_loops.not_rescaled),
    ),
    Misconception(
        code="maximum-starts-at-zero",
        title="The maximum is never below zero",
        message=(
            "Where every score of a head lies far below zero, the maximum that was subtracted is "
            "0, not the highest score: each exp becomes 0, and so does their sum."
        ),
        next_step='Begin with `float("-inf")`, and let scores that do not exist be -inf, too.',
        detector=marks.maximum_starts_at_zero,
    ),
    replace(_of_attention("max-not-subtracted"), detector=marks.maximum_missing),
    Misconception(
        code="empty-part-nan",
        title="A part without keys makes everything NaN",
        message=(
            "A short sequence leaves some parts without keys. The maximum of such a part is -inf, "
            "and -inf - (-inf) is NaN; so is 0 / 0. Once a part is NaN, so is the merged result: "
            "NaN times a weight of 0 is NaN."
        ),
        next_step=(
            "Leave parts without keys out of the merge (`part * part_size < length`), or store 0 "
            "for their output and -inf for their log-sum-exp, and subtract a *finite* maximum."
        ),
        detector=marks.empty_part_is_nan,
    ),
    Misconception(
        code="zero-length-nan",
        title="A sequence without keys is NaN",
        message=(
            "With a length of 0 there is nothing to average: the sum of the weights is 0, and "
            "0 / 0 is NaN (as is -inf - (-inf)). The contract asks for zeros."
        ),
        next_step="Divide by `tl.where(total > 0, total, 1.0)`: the output is 0 already.",
        detector=marks.nothing_is_nan,
    ),
    Misconception(
        code="zero-length-left-open",
        title="A sequence without keys is never stored",
        message=(
            "All is there but sequences of length 0. Whoever returns at once where there are no "
            "keys leaves in the output what lay in that memory before."
        ),
        next_step="Store zeros there: the program that stores the output must not return early.",
        detector=marks.nothing_is_left_open,
        places=True,
    ),
    Misconception(
        code="part-never-stored",
        title="The merge reads parts that nobody stored",
        message=(
            "`torch.empty` gives memory as it is. Parts behind the length of a sequence have no "
            "keys; if no program stores them, the merge must not load them. (Or a part was stored "
            "in another place than the one it is loaded from.)"
        ),
        next_step=(
            "Load only parts with keys, `mask=parts * part_size < length`, or let every program "
            "store. Both kernels must count the places of the parts alike."
        ),
        faults=frozenset({"uninitialised-read"}),
    ),
    Misconception(
        code="garbage-used",
        title="What lies behind a length had an effect",
        message=(
            "The contract promises nothing of what is behind a length. An entry of the table may "
            "be any number, and lead far outside; a slot of the last page may hold NaN, and NaN "
            "times a weight of 0 is NaN. So it is not enough to hide the scores: the loads of keys "
            "*and values* must leave out what does not exist."
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
        title="The last block, or part, of the keys takes the place of all others",
        message=(
            "Output or sum holds what the last step of the loop computed, instead of what all "
            "steps add up to; or the last part of the keys is the result, and the others were "
            "never merged. Keys that fit into one block do not show it."
        ),
        next_step="`acc = acc * alpha[:, None] + ...` in the loop, and then merge *all* parts.",
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
    rounding.tf32_product(decode_magnitude),
    rounding.terms_in_half(decode_magnitude),
    rounding.computes_in_half(decode_magnitude),
)
