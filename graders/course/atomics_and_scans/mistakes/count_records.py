"""The misconceptions about a histogram, the special ones first."""

from __future__ import annotations

from dataclasses import replace

from graders.course.atomics_and_scans.mistakes.wrong_counts import (
    LOADED_TOO,
    bins_left_out,
    bins_outside,
    bound_in_dtype_of_numbers,
    clamped,
    counted_repeatedly,
    ends_early,
    first_block_repeated,
    in_short_floats,
    in_short_integers,
    lanes_in_short_integers,
    lanes_lost,
    last_block_stored,
    left_from_before,
    moved_by_one,
    narrowed,
    negative_outside,
    number_outside,
    overwritten,
    padding_counted,
    running,
    seen,
    summed,
    without_sign,
    wrapped,
    wrapped_elements,
)
from graders.course.atomics_and_scans.reference import histogram
from graders.course.common import shared, strides
from graders.course.common.expected import WIDE_BLOCKS, computes, computes_with_block
from graders.judge.records import Misconception

IN_RANGE = "`inside = mask & (x >= 0) & (x < n_bins)`"

MISTAKES = (
    Misconception(
        code="counts-not-zeroed",
        title="The counts do not start from 0",
        message=(
            "`tl.atomic_add` adds to what stands there, and the counts came from `torch.empty`: "
            "there stands what somebody left in that memory. It may be 0 by chance, today."
        ),
        next_step="Allocate with `torch.zeros((n_bins,), dtype=torch.int32, device=x.device)`.",
        faults=frozenset({"uninitialised-read"}),
        detector=left_from_before,
    ),
    Misconception(
        code="negative-not-checked",
        title="Numbers below 0 are not kept out",
        message=(
            "`x < n_bins` holds for -3, too. Its place is three elements *before* the counts, in "
            "memory that is not yours. A number that becomes an address needs two bounds."
        ),
        next_step=f"Ask for both: {IN_RANGE}.",
        detector=negative_outside,
        rules_out=frozenset({"missing-mask"}),
    ),
    Misconception(
        code="range-not-checked",
        title="Numbers without a bin are not kept out",
        message=(
            "A number from x becomes an address here, and x holds numbers below 0, or n_bins and "
            "above: there is no bin for them. (n_bins itself has none either: the last bin is "
            "n_bins - 1.) Their additions go to memory that is not yours."
        ),
        next_step=f"Mask the addition by the *value*: {IN_RANGE}.",
        detector=number_outside,
        rules_out=frozenset({"missing-mask"}),
    ),
    Misconception(
        code="bins-not-masked",
        title="Lanes behind the last bin are added",
        message=(
            "A block of bins has a power of two of lanes, and n_bins is seldom one. The lanes that "
            "stick out add to (or store in) memory behind the counts, even where they add 0."
        ),
        next_step="`bins = tl.arange(0, BINS)`, and `mask=bins < n_bins` where counts are added.",
        detector=bins_outside,
        rules_out=frozenset({"missing-mask"}),
    ),
    Misconception(
        code="update-not-atomic",
        title="Load, add, store: additions are lost",
        message=(
            "Two lanes (or two programs) that meet the same number load the same count, both add 1 "
            "to it, and both store the same sum: one of the two additions is gone. Between a load "
            "and a store somebody else can always come. An atomic addition does all three in one "
            "step that nobody can interrupt."
        ),
        next_step="`tl.atomic_add(counts_ptr + x, 1, mask=inside)`, in place of load and store.",
        expected_wrong=computes(seen) + computes_with_block(lanes_lost, blocks=WIDE_BLOCKS),
        faults=LOADED_TOO,
    ),
    Misconception(
        code="counts-in-short-integers",
        title="The counts are kept in too few bits",
        message=(
            "Large counts start again from below: they are kept in 8 or 16 bits on the way. An "
            "int8 counts up to 127, and 127 + 1 is -128; a uint8 goes on from 255 with 0."
        ),
        next_step="Convert before you add up: `.to(tl.int32)`, and count in int32 throughout.",
        expected_wrong=computes(in_short_integers) + computes_with_block(lanes_in_short_integers),
    ),
    Misconception(
        code="counts-overwritten",
        title="A program wipes out what others have counted",
        message=(
            "A program *stores* into the counts that all share: the counts of its own block, or "
            "the zeros that they start from. What others have added until then is gone, and who "
            "comes last is chance on a GPU. One block alone does not show it."
        ),
        next_step=(
            "Zeros before the launch, `torch.zeros`, and in the kernel only additions: "
            "`tl.atomic_add(counts_ptr + bins, counts_of_block, mask=bins < n_bins)`."
        ),
        expected_wrong=computes_with_block(last_block_stored, blocks=WIDE_BLOCKS),
        detector=overwritten,
    ),
    Misconception(
        code="negative-as-positive",
        title="Numbers below 0 count as if they had no sign",
        message="-3 counts in the bin of 3. It lies outside, and counts nowhere.",
        next_step=f"Leave out `tl.abs`, and ask: {IN_RANGE}.",
        expected_wrong=computes(without_sign),
    ),
    Misconception(
        code="narrowed",
        title="The numbers have lost their upper bits",
        message=(
            "x was converted to fewer bits before it was compared. 2**32 + 3 in 32 bits is 3, and "
            "so it counts in the bin of 3, though it lies far outside."
        ),
        next_step=(
            "Compare the numbers as they are, or in 64 bits: `tl.load(...).to(tl.int64)`. Convert "
            "down, if at all, when you know that they are inside."
        ),
        expected_wrong=computes(narrowed),
    ),
    Misconception(
        code="bound-in-dtype-of-x",
        title="The bound of the bins has the dtype of the numbers",
        message=(
            "n_bins, or the number of the last bin, was converted to the dtype of x, and does not "
            "fit: 300 as a uint8 is 44, and 200 as an int8 is -56. So numbers that have a bin are "
            "taken to lie outside."
        ),
        next_step="Convert the numbers, not the bound: `x.to(tl.int32) < n_bins`.",
        expected_wrong=computes(bound_in_dtype_of_numbers),
    ),
    Misconception(
        code="outside-clamped",
        title="Numbers outside count in the first or last bin",
        message=(
            "They were clamped to 0 or to n_bins - 1, or replaced by a number that has a bin. That "
            "makes the address legal and the count wrong: outside counts nowhere. A 1 that is not "
            "to be added must be masked off, or be a 0."
        ),
        next_step=f"Leave x as it is, and mask the addition: {IN_RANGE}.",
        expected_wrong=computes(clamped),
    ),
    Misconception(
        code="outside-wrapped",
        title="Numbers outside count in the bin of their remainder",
        message=(
            "`x % n_bins` (or `&`, or Python's habit of counting negative indices from the end) "
            "brings every number into a bin. But n_bins + 2 is not 2: it counts nowhere."
        ),
        next_step=f"Mask the addition: {IN_RANGE}.",
        expected_wrong=computes(wrapped),
    ),
    Misconception(
        code="padding-counted",
        title="Lanes behind the end of x are counted",
        message=(
            "The last block has more lanes than there are numbers left. They were loaded as 0 (or "
            "as a real element), and counted as if they were one."
        ),
        next_step="Let the mask of the addition hold `offsets < n_elements` as well.",
        expected_wrong=computes_with_block(padding_counted, wrapped_elements, blocks=WIDE_BLOCKS),
    ),
    Misconception(
        code="first-block-repeated",
        places=True,
        title="Every program counts the first block",
        message=(
            "The counts are those of the first block, once for each program: the offsets of the "
            "load do not depend on `tl.program_id`."
        ),
        next_step="`offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`.",
        expected_wrong=computes_with_block(first_block_repeated, blocks=WIDE_BLOCKS),
    ),
    replace(
        shared.grid_too_small(),
        title="The last numbers are never counted",
        message=(
            "These are the counts of the first numbers of x alone. No program came to the others: "
            "`n_elements // BLOCK_SIZE` rounds down and forgets the block that is not full, and a "
            "fixed number of programs suits one size only, unless each of them loops."
        ),
        detector=ends_early,
    ),
    Misconception(
        code="counts-in-half",
        title="The counts stopped growing",
        message=(
            "They are kept in a 16-bit float on the way. From 2048 on float16 knows no odd "
            "numbers (bfloat16 from 256 on), so 2048 + 1 is rounded back to 2048, and all further "
            "additions are lost."
        ),
        next_step="Count in int32 from the start: `torch.zeros(..., dtype=torch.int32)`.",
        expected_wrong=computes(in_short_floats),
    ),
    Misconception(
        code="bins-left-out",
        title="Some bins are never counted",
        message=(
            "Bins at the end (or the first one) stay empty though their numbers are there: a fixed "
            "block of bins is too short for this n_bins, or a bound is off by one."
        ),
        next_step=(
            "There are n_bins bins, 0 to n_bins - 1: `x >= 0` and `x < n_bins`. A block of bins "
            "needs `triton.next_power_of_2(n_bins)` lanes."
        ),
        expected_wrong=computes(bins_left_out),
    ),
    Misconception(
        code="bins-shifted",
        title="Each number counts in its neighbour's bin",
        message="The count of 3 stands at 2 or at 4: the first bin is number 0.",
        next_step="The place of a number is the number: `counts_ptr + x`.",
        expected_wrong=computes(moved_by_one),
    ),
    Misconception(
        code="values-added",
        title="The numbers are added up, not counted",
        message="Each bin holds the sum of its numbers: what is added is x, where 1 is due.",
        next_step="`tl.atomic_add(counts_ptr + x, 1, mask=inside)`.",
        expected_wrong=computes(summed),
    ),
    Misconception(
        code="running-counts",
        title="The counts are added up along the bins",
        message="Bin b holds how many numbers are at most b, or smaller, and not how many are b.",
        next_step="Compare with `==`, or leave out the sum over the bins.",
        expected_wrong=computes(running),
    ),
    Misconception(
        code="counted-repeatedly",
        title="Each number is counted several times",
        message=(
            "All counts are the same multiple of what they should be. Several programs went "
            "through the same numbers, or a block has an axis whose lanes all add the same."
        ),
        next_step="Each number belongs to exactly one lane of one program.",
        expected_wrong=computes(counted_repeatedly),
    ),
    strides.column_stride_ignored(histogram),
    shared.contiguous_assumed(histogram),
    shared.missing_mask("a vector"),
)
