"""The misconceptions about where the random number of an element comes from."""

from __future__ import annotations

from graders.course.common.expected import BLOCK_SIZES, computes, computes_from_memory
from graders.course.common.expected import computes_with_block as with_block
from graders.course.randomness.mistakes import wrong_masks as wrong
from graders.judge.records import Misconception

BLOCKS = BLOCK_SIZES[1:]  # a block of one element counts nothing
COUNT = "`tl.rand(seed, elements)`, with `elements = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`."

MASK_MISTAKES = (
    Misconception(
        code="counter-of-lane",
        title="The counter is the lane, not the element",
        message=(
            "The counter is the position within the block, so every block drops the same "
            "lanes. Another block size gives another mask, and a backward pass with other "
            "blocks does not match."
        ),
        next_step=f"Use the number of the element: {COUNT}",
        expected_wrong=with_block(wrong.by_lane, blocks=BLOCKS),
        detector=wrong.by_lane_of_tile,
    ),
    Misconception(
        code="seed-moved-on",
        title="Each program, or each row, has a seed of its own",
        message=(
            "The kernel added the number of the program (or of the row) to the seed. Then "
            "the mask depends on the block size, and neighbouring seeds share masks."
        ),
        next_step=f"Do not change the seed. Use the number of the element: {COUNT}",
        expected_wrong=(
            *with_block(wrong.seed_by_program, blocks=BLOCKS),
            *computes(wrong.seed_by_slice),
        ),
    ),
    Misconception(
        code="counter-restarts",
        title="The counter starts again in each row",
        message=(
            "All rows (or slices) have the same mask, because the counter is the column, "
            "or the number within a slice. If column 3 is dropped in one row, it is "
            "dropped in all."
        ),
        next_step="Count through the whole tensor: `row * n_cols + col`.",
        expected_wrong=computes(wrong.by_place_in_slice),
    ),
    Misconception(
        code="one-number-for-many",
        title="One random number decides for many elements",
        message=(
            "A whole block, a row or the tensor is kept or dropped at once: `tl.rand` got "
            "one counter, so it returned one number."
        ),
        next_step=f"Give `tl.rand` a block of counters: {COUNT}",
        expected_wrong=(
            *computes(wrong.one_for_slice),
            *with_block(wrong.one_for_block, blocks=BLOCKS),
        ),
    ),
    Misconception(
        code="counter-by-address",
        title="The counter is the offset in memory",
        message=(
            "The offset of an element depends on the strides. So the masks of `x.t()`, of "
            "a slice and of a dense copy differ, and in an expanded view many elements "
            "share one number."
        ),
        next_step=(
            "Use `elements`, counted row after row, as the counter. Use the offsets of a "
            "view for loads only."
        ),
        expected_wrong=computes_from_memory(wrong.by_address),
    ),
    Misconception(
        code="counter-not-row-major",
        title="The elements are counted in another order",
        message=(
            "Each element has a counter, but not that of the contract: the kernel counts "
            "column after column, or with a wrong row length."
        ),
        next_step="Element (row, col) of a matrix has the counter `row * n_cols + col`.",
        expected_wrong=computes(wrong.in_another_order),
    ),
    Misconception(
        code="seed-ignored",
        title="The seed is a constant",
        message=(
            "The kernel uses a fixed seed and ignores the caller's. In training every "
            "layer and every step would drop the same elements."
        ),
        next_step="Pass the seed to the kernel, and give it to `tl.rand(seed, ...)`.",
        expected_wrong=computes(wrong.of_fixed_seed),
    ),
    Misconception(
        code="seed-in-32-bits",
        title="The seed loses its upper half",
        message=(
            "A seed may have 64 bits: the key of Philox has two 32-bit words. The kernel "
            "uses only the lower word, so many seeds give the same mask."
        ),
        next_step="Pass the seed unchanged. If you convert it, convert it to `tl.int64`.",
        expected_wrong=computes(wrong.of_short_seed),
    ),
    Misconception(
        code="seed-and-counter-exchanged",
        title="Seed and counter are exchanged",
        message=(
            "`tl.rand` takes the seed first, then the counters. Here they are in the other order."
        ),
        next_step="Write `tl.rand(seed, elements)`.",
        expected_wrong=computes(wrong.of_seed_as_counter),
    ),
    Misconception(
        code="seed-added-to-counter",
        title="The counter does not start at 0",
        message=(
            "The kernel added the seed to the counter, multiplied them, or starts to count "
            "at 1. If seeds are added, the masks of two seeds are shifted copies of each "
            "other."
        ),
        next_step=(
            "Write `tl.rand(seed, elements)` with two arguments, where element 0 has the counter 0."
        ),
        expected_wrong=computes(wrong.of_moved_counter),
    ),
    Misconception(
        code="another-word",
        title="The number comes from another word of the generator",
        message=(
            "One counter of Philox gives four words, and `tl.rand` uses the first. Here "
            "four neighbours share a counter, or a later word is used. Such numbers are as "
            "good, but the contract asks for another mask."
        ),
        next_step="Write `tl.rand(seed, elements)`, or use the *first* result of `tl.rand4x`.",
        expected_wrong=computes(wrong.of_other_words),
    ),
    Misconception(
        code="fewer-rounds",
        title="The generator runs another number of rounds",
        message="Philox runs ten rounds by default, and the contract asks for those.",
        next_step="Write `tl.rand(seed, elements)`, without a third argument.",
        expected_wrong=computes(wrong.of_other_rounds),
    ),
    Misconception(
        code="not-uniform",
        title="The numbers are not those of tl.rand",
        message=(
            "`tl.randn` gives normally distributed numbers, and `tl.randint` gives 32-bit "
            "integers. Neither gives the mask of the contract."
        ),
        next_step="Use `tl.rand`, which gives uniform numbers from 0 to below 1.",
        expected_wrong=computes(wrong.of_integers, wrong.of_normal_numbers),
    ),
    Misconception(
        code="compared-in-half",
        title="The random number was rounded before the comparison",
        message=(
            "Some elements with a number close to p are wrong: the random number, or p, "
            "was rounded to float16 or bfloat16."
        ),
        next_step="Compare the float32 number from `tl.rand` with p, and convert neither.",
        expected_wrong=computes(wrong.in_half),
    ),
)
