"""The misconceptions about a product with a matrix of 4-bit numbers."""

from __future__ import annotations

from graders.course.common.expected import computes, computes_from_memory, computes_with_block
from graders.course.low_precision.mistakes import quantized_results as wrong
from graders.course.low_precision.reference import quantized_matmul, quantized_matmul_magnitude
from graders.course.matmul.mistakes.product import product_mistakes
from graders.judge.records import Misconception

OF_THE_NIBBLES = (
    Misconception(
        code="nibble-order",
        title="The nibbles of a word are in the wrong order",
        message=(
            "Row k of b is in the four bits from bit 4 · (k % 8) of word k // 8, so the "
            "lowest nibble comes first. Here the order is reversed, or neighbours are "
            "exchanged."
        ),
        next_step="`q = (words >> (offs_k % 8 * 4)[:, None]) & 0xF`.",
        expected_wrong=computes(wrong.other_order),
    ),
    Misconception(
        code="nibbles-apart",
        title="Neighbours in a word are not neighbours along k",
        message=(
            "The kernel unpacks the lowest nibbles of all words first, then the second ones, "
            "and so on. The eight numbers of one word must be adjacent along k."
        ),
        next_step=(
            "Load the word of each row, `offs_k // 8`, and shift it by `offs_k % 8 * 4`. With "
            "a reshape, put the axis of nibbles *after* the axis of words."
        ),
        expected_wrong=computes_with_block(wrong.nibbles_apart),
    ),
    Misconception(
        code="nibble-sign-extended",
        title="Numbers of 8 and more became negative",
        message=(
            "A nibble is a number from 0 to 15 here, but the kernel reads it as signed, -8 to "
            "7. The zero point already makes negative numbers."
        ),
        next_step="Shift right, then keep four bits: `(words >> shift) & 0xF`.",
        expected_wrong=computes(wrong.sign_extended),
    ),
    Misconception(
        code="nibble-divided",
        title="Division and remainder of a negative word",
        message=(
            "In Triton `//` and `%` of integers round towards 0. If the highest nibble is 8 "
            "or more, the word is negative, so they give other results than in Python."
        ),
        next_step="Shift and mask: `(word >> (4 * i)) & 0xF` is correct for any sign.",
        expected_wrong=computes(wrong.divided),
    ),
    Misconception(
        code="nibble-not-cut-out",
        title="A number is not the four bits of its place",
        message=(
            "Each number needs a shift by *four* bits per place and a mask. Here all eight "
            "are the lowest nibble, the shift counts single bits, or the mask is missing."
        ),
        next_step="`q = (words >> (offs_k % 8 * 4)[:, None]) & 0xF`.",
        expected_wrong=computes(wrong.shifted_wrongly),
        detector=wrong.overflows_uncut,
    ),
    Misconception(
        code="words-repeated",
        title="Every step of the loop unpacks the same words",
        message=(
            "Each step unpacks the words of the first block of k: their pointers or row "
            "offsets do not move, while the scales do."
        ),
        next_step=(
            "Compute the row of words from the loop's `offs_k // 8`, or advance the pointers "
            "by BLOCK_K // 8 rows."
        ),
        expected_wrong=computes_with_block(wrong.words_repeated),
    ),
    Misconception(
        code="packed-along-n",
        title="The numbers are unpacked along n",
        message=(
            "Eight numbers of one *column* share a word: packed_b has k / 8 rows and n "
            "columns. Here eight neighbours of a row share a word."
        ),
        next_step=(
            "Word `(offs_k // 8)[:, None]`, column `offs_n[None, :]`, nibble "
            "`(offs_k % 8)[:, None]`."
        ),
        expected_wrong=computes(wrong.along_n),
    ),
)

OF_THE_GROUPS = (
    Misconception(
        code="zero-after-scale",
        title="The zero point is subtracted after the scale",
        message=(
            "The kernel computes q * scale - zero. The zero point counts steps, like q, so it "
            "must be subtracted before scaling."
        ),
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.zero_after_scale),
    ),
    Misconception(
        code="zero-left-out",
        title="The zero points are missing",
        message=(
            "The kernel computes q * scale, or (q - 8) * scale. Each group has its own zero "
            "point in `zeros`."
        ),
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.zero_left_out),
    ),
    Misconception(
        code="zero-turned",
        title="A sign of the zero point is wrong",
        message="The kernel computes (q + zero) * scale, or (zero - q) * scale.",
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.zero_turned),
    ),
    Misconception(
        code="difference-wraps",
        title="The difference is computed in an unsigned type",
        message=(
            "If q is smaller than its zero point, `q - zero` is negative. In `uint8` it wraps "
            "around: 3 - 5 is 254."
        ),
        next_step="Convert before the difference: `q.to(tl.float32) - zero.to(tl.float32)`.",
        expected_wrong=computes(wrong.difference_wraps),
    ),
    Misconception(
        code="zero-off-by-one",
        title="The zero points are off by one",
        message=(
            "The kernel computes (q - zero - 1) * scale, or (q - zero + 1) * scale. Some file "
            "formats store the zero point minus one, but `zeros` does not."
        ),
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.zero_off_by_one),
    ),
    Misconception(
        code="scale-left-out",
        title="The scales are missing",
        message="The kernel computes q - zero without its scale, or divides by the scale.",
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.scale_left_out),
    ),
    Misconception(
        code="scales-pile-up",
        title="The running sum is scaled with each group",
        message=(
            "After each group the kernel multiplies the whole accumulator by that group's "
            "scale. So the first group's part gets the scales of all others, too."
        ),
        next_step="Scale the group's own part, then add it: `total += tl.dot(a, q) * scale`.",
        expected_wrong=computes(wrong.scales_pile_up),
    ),
    Misconception(
        code="one-group-for-all",
        title="One group's scales are used for all of k",
        message=(
            "The scales or zero points of one group serve all of k, or the group is counted "
            "in words instead of rows. With a single group it does not show."
        ),
        next_step="Row k of b uses group `k // GROUP`: load its scales inside the loop.",
        expected_wrong=computes(wrong.one_group),
    ),
    Misconception(
        code="group-of-block-start",
        title="A group ends inside a block, but its scale goes on",
        message=(
            "The whole block of k gets the scales or zero points of the group in which it "
            "*starts*. That is correct only if BLOCK_K divides the group size."
        ),
        next_step=(
            "Compute the group of each row, `groups = offs_k // GROUP`, and load a tile of "
            "scales at rows `groups[:, None]`."
        ),
        expected_wrong=computes_with_block(wrong.group_of_block),
    ),
    Misconception(
        code="groups-overlap",
        title="Rows of the next group are counted twice",
        message=(
            "The kernel passes over a group in blocks of a power of two. If the group size is "
            "48 or 80, the last block reaches into the next group."
        ),
        next_step="Mask the rows by the end of the *group* too: `offs_k < (group + 1) * GROUP`.",
        expected_wrong=computes(wrong.groups_overlap),
    ),
    Misconception(
        code="group-per-block",
        title="Every step of the loop uses the next group",
        message=(
            "Step i of the loop uses row i of the scales or zero points. But a group has k / "
            "scales.shape[0] rows of b, and a step has BLOCK_K."
        ),
        next_step="`groups = offs_k // GROUP`, with offs_k counted from the beginning of k.",
        expected_wrong=computes_with_block(wrong.group_per_block),
    ),
    Misconception(
        code="group-miscounted",
        title="Rows get the wrong groups",
        message=(
            "A group is a run of neighbours along k. Here rows are assigned differently, for "
            "example by `offs_k % n_groups`, or with the number of groups as the group size."
        ),
        next_step="`groups = offs_k // GROUP`, where GROUP is k / scales.shape[0].",
        expected_wrong=computes(wrong.other_groups),
        detector=wrong.groups_beyond,
        rules_out=frozenset({"missing-mask"}),
    ),
    Misconception(
        code="scales-of-first-columns",
        title="Each tile has the scales of the first columns",
        message=(
            "The first tile of columns is correct. The others use its scales or zero points: "
            "the offsets of that load do not depend on the program."
        ),
        next_step="Load them with the columns of the tile, `offs_n[None, :]`.",
        expected_wrong=computes_with_block(wrong.first_columns),
    ),
    Misconception(
        code="scales-transposed",
        title="Scales or zero points are read with rows and columns exchanged",
        message=(
            "`scales` and `zeros` have a row for each group and a column for each column of "
            "b. Here rows and columns are exchanged."
        ),
        next_step="`scales_ptr + groups[:, None] * N + offs_n[None, :]`.",
        expected_wrong=computes(wrong.transposed_groups),
    ),
)

BRAIN_THROUGH_HALF = Misconception(
    code="brain-through-half",
    title="bfloat16 numbers went through float16",
    message=(
        "bfloat16 has the range of float32. float16 ends at 65,504 and loses digits below "
        "0.00006, so large numbers became infinite or small ones inexact."
    ),
    next_step="Compute in float32, and convert the tile of b to the dtype of a: `b.to(a.dtype)`.",
    expected_wrong=computes_from_memory(wrong.through_half),
)

_OF_PRODUCTS = product_mistakes(
    reference=quantized_matmul,
    magnitude=quantized_matmul_magnitude,
    operands=wrong.operands,
    finish=lambda product, a, packed_b, scales, zeros: product,
    special=(*OF_THE_NIBBLES, *OF_THE_GROUPS, BRAIN_THROUGH_HALF),
)
# Of cases with a single whole block of k both account for equally many: here the end is lost first.
_TAIL = next(record for record in _OF_PRODUCTS if record.code == "k-tail-dropped")
_LOOP = next(record for record in _OF_PRODUCTS if record.code == "k-loop-missing")
_EXCHANGED = {_TAIL.code: _LOOP, _LOOP.code: _TAIL}
MISTAKES = tuple(_EXCHANGED.get(record.code, record) for record in _OF_PRODUCTS)
