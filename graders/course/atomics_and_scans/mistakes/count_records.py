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
            "`tl.atomic_add` adds to what is in memory, and `torch.empty` does not set the "
            "counts to 0. The memory may be 0 by chance today."
        ),
        next_step="Allocate with `torch.zeros((n_bins,), dtype=torch.int32, device=x.device)`.",
        faults=frozenset({"uninitialised-read"}),
        detector=left_from_before,
    ),
    Misconception(
        code="negative-not-checked",
        title="Numbers below 0 are not masked off",
        message=(
            "`x < n_bins` is true for -3, too. Its address is three elements *before* the "
            "counts, in memory that is not yours. A number that becomes an address needs "
            "two bounds."
        ),
        next_step=f"Check both bounds: {IN_RANGE}.",
        detector=negative_outside,
        rules_out=frozenset({"missing-mask"}),
    ),
    Misconception(
        code="range-not-checked",
        title="Numbers without a bin are not masked off",
        message=(
            "A number from x becomes an address, and x contains numbers below 0 or of "
            "n_bins and above. They have no bin (the last bin is n_bins - 1), so their "
            "additions go to memory that is not yours."
        ),
        next_step=f"Mask the addition by the *value*: {IN_RANGE}.",
        detector=number_outside,
        rules_out=frozenset({"missing-mask"}),
    ),
    Misconception(
        code="bins-not-masked",
        title="Lanes past the last bin are added",
        message=(
            "A block of bins has a power of two of lanes, and n_bins is seldom one. The "
            "extra lanes add to memory past the counts, even if they add 0."
        ),
        next_step=(
            "Write `bins = tl.arange(0, BINS)`, and use `mask=bins < n_bins` where "
            "counts are added."
        ),
        detector=bins_outside,
        rules_out=frozenset({"missing-mask"}),
    ),
    Misconception(
        code="update-not-atomic",
        title="Load, add, store: additions are lost",
        message=(
            "Two lanes (or two programs) with the same number load the same count, both "
            "add 1, and both store the same sum: one addition is lost. An atomic addition "
            "does all three in one indivisible step."
        ),
        next_step="Replace load and store by `tl.atomic_add(counts_ptr + x, 1, mask=inside)`.",
        expected_wrong=computes(seen) + computes_with_block(lanes_lost, blocks=WIDE_BLOCKS),
        faults=LOADED_TOO,
    ),
    Misconception(
        code="counts-in-short-integers",
        title="The counts are kept in too few bits",
        message=(
            "Large counts wrap around, because the kernel keeps them in 8 or 16 bits. An "
            "int8 counts up to 127, and 127 + 1 is -128; a uint8 continues from 255 with 0."
        ),
        next_step=(
            "Convert with `.to(tl.int32)` before you add up, and count in int32 throughout."
        ),
        expected_wrong=computes(in_short_integers) + computes_with_block(lanes_in_short_integers),
    ),
    Misconception(
        code="counts-overwritten",
        title="A program overwrites what others have counted",
        message=(
            "A program *stores* into the shared counts: the counts of its own block, or "
            "zeros. The additions of other programs up to then are lost. One block alone "
            "does not show it."
        ),
        next_step=(
            "Set zeros before the launch with `torch.zeros`. In the kernel only add: "
            "`tl.atomic_add(counts_ptr + bins, counts_of_block, mask=bins < n_bins)`."
        ),
        expected_wrong=computes_with_block(last_block_stored, blocks=WIDE_BLOCKS),
        detector=overwritten,
    ),
    Misconception(
        code="negative-as-positive",
        title="Numbers below 0 are counted without their sign",
        message="-3 was counted in the bin of 3. It has no bin and must not be counted.",
        next_step=f"Leave out `tl.abs`, and mask the addition: {IN_RANGE}.",
        expected_wrong=computes(without_sign),
    ),
    Misconception(
        code="narrowed",
        title="The numbers have lost their upper bits",
        message=(
            "x was converted to fewer bits before the comparison. 2**32 + 3 in 32 bits is "
            "3, so it was counted in the bin of 3, although it has no bin."
        ),
        next_step=(
            "Compare the numbers as they are, or in 64 bits: "
            "`tl.load(...).to(tl.int64)`. Convert to fewer bits only after the "
            "comparison."
        ),
        expected_wrong=computes(narrowed),
    ),
    Misconception(
        code="bound-in-dtype-of-x",
        title="The bound is converted to the dtype of the numbers",
        message=(
            "n_bins, or the last bin, was converted to the dtype of x and does not fit: "
            "300 as a uint8 is 44, and 200 as an int8 is -56. So numbers that have a bin "
            "were masked off."
        ),
        next_step="Convert the numbers, not the bound: `x.to(tl.int32) < n_bins`.",
        expected_wrong=computes(bound_in_dtype_of_numbers),
    ),
    Misconception(
        code="outside-clamped",
        title="Numbers outside are counted in the first or last bin",
        message=(
            "Numbers without a bin were clamped to 0 or n_bins - 1, or replaced by a "
            "number that has a bin. That makes the address legal and the count wrong."
        ),
        next_step=f"Leave x as it is, and mask the addition: {IN_RANGE}.",
        expected_wrong=computes(clamped),
    ),
    Misconception(
        code="outside-wrapped",
        title="Numbers outside are counted in the bin of their remainder",
        message=(
            "`x % n_bins` (or `&`, or a negative index counted from the end) brings every "
            "number into a bin. But n_bins + 2 is not 2 and must not be counted."
        ),
        next_step=f"Mask the addition: {IN_RANGE}.",
        expected_wrong=computes(wrapped),
    ),
    Misconception(
        code="padding-counted",
        title="Lanes past the end of x are counted",
        message=(
            "The last block has more lanes than there are numbers left. The kernel loaded "
            "0, or a real element, for these lanes and counted it."
        ),
        next_step="Add `offsets < n_elements` to the mask of the addition.",
        expected_wrong=computes_with_block(padding_counted, wrapped_elements, blocks=WIDE_BLOCKS),
    ),
    Misconception(
        code="first-block-repeated",
        places=True,
        title="Every program counts the first block",
        message=(
            "The counts are those of the first block, once for each program: the offsets "
            "of the load do not depend on `tl.program_id`."
        ),
        next_step="Write `offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`.",
        expected_wrong=computes_with_block(first_block_repeated, blocks=WIDE_BLOCKS),
    ),
    replace(
        shared.grid_too_small(),
        title="The last numbers are never counted",
        message=(
            "Only the first numbers of x were counted. `n_elements // BLOCK_SIZE` rounds down and "
            "leaves out the last block; a fixed number of programs fits one size only, unless each "
            "of them loops."
        ),
        detector=ends_early,
    ),
    Misconception(
        code="counts-in-half",
        title="The counts stopped growing",
        message=(
            "The kernel keeps the counts in a 16-bit float. From 2048 on float16 has only "
            "even numbers (bfloat16 from 256 on), so 2048 + 1 is rounded back to 2048."
        ),
        next_step="Count in int32 from the start: `torch.zeros(..., dtype=torch.int32)`.",
        expected_wrong=computes(in_short_floats),
    ),
    Misconception(
        code="bins-left-out",
        title="Some bins are never counted",
        message=(
            "Bins at the end (or the first one) stay empty although x contains their "
            "numbers. A fixed block of bins is too short for this n_bins, or a bound is "
            "off by one."
        ),
        next_step=(
            "The bins are 0 to n_bins - 1: check `x >= 0` and `x < n_bins`. A block of "
            "bins needs `triton.next_power_of_2(n_bins)` lanes."
        ),
        expected_wrong=computes(bins_left_out),
    ),
    Misconception(
        code="bins-shifted",
        title="Each number is counted in a neighbouring bin",
        message="The count of 3 is in bin 2 or bin 4. The first bin is number 0.",
        next_step="The address for the number x is `counts_ptr + x`.",
        expected_wrong=computes(moved_by_one),
    ),
    Misconception(
        code="values-added",
        title="The numbers are added up, not counted",
        message=(
            "Each bin contains the sum of its numbers: the kernel adds x where it should add 1."
        ),
        next_step="Write `tl.atomic_add(counts_ptr + x, 1, mask=inside)`.",
        expected_wrong=computes(summed),
    ),
    Misconception(
        code="running-counts",
        title="The counts are added up along the bins",
        message=(
            "Bin b contains how many numbers are at most b, or below b, and not how many "
            "are equal to b."
        ),
        next_step="Compare with `==`, or leave out the sum over the bins.",
        expected_wrong=computes(running),
    ),
    Misconception(
        code="counted-repeatedly",
        title="Each number is counted several times",
        message=(
            "All counts are the same multiple of the correct ones. Several programs read "
            "the same numbers, or a block has an axis along which all lanes add the same "
            "number."
        ),
        next_step="Give each number to exactly one lane of one program.",
        expected_wrong=computes(counted_repeatedly),
    ),
    strides.column_stride_ignored(histogram),
    shared.contiguous_assumed(histogram),
    shared.missing_mask("a vector"),
)
