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
        title="The lanes are counted, not the elements",
        message=(
            "The counter is the place within the block, so every block drops the same lanes. The "
            "share is right, but the mask repeats, and with another block size it is another "
            "mask: whoever computes the way back with other blocks uses a mask that never was."
        ),
        next_step=f"Count elements: {COUNT}",
        expected_wrong=with_block(wrong.by_lane, blocks=BLOCKS),
        detector=wrong.by_lane_of_tile,
    ),
    Misconception(
        code="seed-moved-on",
        title="Each program, or each row, has a seed of its own",
        message=(
            "The number of the program (or of the row) was added to the seed. Then the mask "
            "depends on how the work is cut; and where lanes are counted, program 1 of seed 7 has "
            "the mask of program 0 of seed 8. One seed is enough: the counter tells the elements "
            "apart."
        ),
        next_step=f"Leave the seed alone, and count elements: {COUNT}",
        expected_wrong=(
            *with_block(wrong.seed_by_program, blocks=BLOCKS),
            *computes(wrong.seed_by_slice),
        ),
    ),
    Misconception(
        code="counter-restarts",
        title="The counter starts again in each row",
        message=(
            "All rows (or slices) have the same mask, because the counter is the column, or the "
            "number within a slice. Drop column 3 in one row and it is dropped in all."
        ),
        next_step="Count through the whole tensor: `row * n_cols + col`.",
        expected_wrong=computes(wrong.by_place_in_slice),
    ),
    Misconception(
        code="one-number-for-many",
        title="One random number decides for many elements",
        message=(
            "A whole program, a row or the tensor is kept or dropped at once: the counter that "
            "`tl.rand` got is one number, and so is what it returned."
        ),
        next_step=f"Give it a block of counters: {COUNT}",
        expected_wrong=(
            *computes(wrong.one_for_slice),
            *with_block(wrong.one_for_block, blocks=BLOCKS),
        ),
    ),
    Misconception(
        code="counter-by-address",
        title="The counter is the place in memory",
        message=(
            "The offset that finds an element in a view is no number of that element. The mask of "
            "`x.t()`, of a slice and of a dense copy of it would differ, and in an expanded view "
            "many elements share one number. Contiguous tensors never show it."
        ),
        next_step="Count row after row, `elements`; use the offsets of a view to load and no more.",
        expected_wrong=computes_from_memory(wrong.by_address),
    ),
    Misconception(
        code="counter-not-row-major",
        title="The elements are counted in another order",
        message=(
            "Each element has a number, but not the one of the contract: they were counted column "
            "after column, or a row was taken to be as long as a column. What runs backward and "
            "counts row after row would use another mask."
        ),
        next_step="Element (row, col) of a matrix has the number `row * n_cols + col`.",
        expected_wrong=computes(wrong.in_another_order),
    ),
    Misconception(
        code="seed-ignored",
        title="The seed is a constant",
        message=(
            "The mask is that of a fixed seed, whatever the caller asks for. In training the same "
            "elements would be dropped in each layer and in each step, and would never learn."
        ),
        next_step="Pass the seed to the kernel, and give it to `tl.rand(seed, ...)`.",
        expected_wrong=computes(wrong.of_fixed_seed),
    ),
    Misconception(
        code="seed-in-32-bits",
        title="The seed loses its upper half",
        message=(
            "A seed may have 64 bits: the key of Philox is two words of 32. Here what is beyond "
            "the lower word is gone, so that many seeds give one and the same mask."
        ),
        next_step="Pass the seed as it is; if you convert it, then to `tl.int64`.",
        expected_wrong=computes(wrong.of_short_seed),
    ),
    Misconception(
        code="seed-and-counter-exchanged",
        title="Seed and counter have changed places",
        message="`tl.rand` takes the seed first, then the counters. Here they come the other way.",
        next_step="`tl.rand(seed, elements)`.",
        expected_wrong=computes(wrong.of_seed_as_counter),
    ),
    Misconception(
        code="seed-added-to-counter",
        title="The counter does not begin at 0",
        message=(
            "The seed was added to the counter, or multiplied with it, or the count begins with 1. "
            "Where it is added, the masks of two seeds are the same one, shifted: seed 8 drops "
            "element 0 if seed 7 drops element 1."
        ),
        next_step="`tl.rand(seed, elements)`: two arguments, and element 0 has the counter 0.",
        expected_wrong=computes(wrong.of_moved_counter),
    ),
    Misconception(
        code="another-word",
        title="Another word of the generator is taken",
        message=(
            "One counter of Philox gives four words, and `tl.rand` takes the first. Here four "
            "neighbours share a counter, or the second word or a later one is taken. Such numbers "
            "are as good, and cheaper; but they make another mask than the contract's."
        ),
        next_step="`tl.rand(seed, elements)`, or the *first* of the four of `tl.rand4x`.",
        expected_wrong=computes(wrong.of_other_words),
    ),
    Misconception(
        code="fewer-rounds",
        title="The generator runs another number of rounds",
        message="Philox mixes ten times unless it is told otherwise, and the contract means those.",
        next_step="`tl.rand(seed, elements)`, without a third argument.",
        expected_wrong=computes(wrong.of_other_rounds),
    ),
    Misconception(
        code="not-uniform",
        title="The numbers are not those of tl.rand",
        message=(
            "`tl.randn` gives numbers of a bell curve, and `tl.randint` words of 32 bits. Compared "
            "with p, neither drops a share p; and a word divided by 2**32 is spread evenly, but it "
            "is not what `tl.rand` makes of it."
        ),
        next_step="`tl.rand` gives numbers spread evenly from 0 to below 1: use that.",
        expected_wrong=computes(wrong.of_integers, wrong.of_normal_numbers),
    ),
    Misconception(
        code="compared-in-half",
        title="The number was rounded before it was compared",
        message=(
            "Some elements close to the border are on its wrong side: the random number, or p, "
            "went through float16 or bfloat16, which cannot tell it from its neighbours."
        ),
        next_step="Compare what `tl.rand` gives, which is float32, with p as it is.",
        expected_wrong=computes(wrong.in_half),
    ),
)
