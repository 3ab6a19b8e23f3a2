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
        title="The eight numbers of a word come in the wrong order",
        message=(
            "Row k of b lies in the four bits that start at bit 4 · (k % 8) of word k // 8: the "
            "lowest nibble comes first, and the eight are neighbours along k. Here the highest "
            "comes first, or neighbours have changed places."
        ),
        next_step="`q = (words >> (offs_k % 8 * 4)[:, None]) & 0xF`.",
        expected_wrong=computes(wrong.other_order),
    ),
    Misconception(
        code="nibbles-apart",
        title="Neighbours in a word do not become neighbours along k",
        message=(
            "The words are unpacked nibble by nibble: first the lowest ones of all words of the "
            "block, then the second ones, and so on. The eight numbers of a word belong side by "
            "side along k."
        ),
        next_step=(
            "Load the word of each row, `offs_k // 8`, and shift it by `offs_k % 8 * 4`. Or give "
            "the nibbles an axis of their own *behind* that of the words, before the reshape."
        ),
        expected_wrong=computes_with_block(wrong.nibbles_apart),
    ),
    Misconception(
        code="nibble-sign-extended",
        title="Numbers of 8 and more became negative",
        message=(
            "A nibble is a number from 0 to 15 here. Yours was taken for a signed one, -8 to 7: "
            "it was shifted up to the sign bit and down again, or 16 was subtracted. The zero "
            "point already makes the negative numbers."
        ),
        next_step="Shift right, then keep four bits: `(words >> shift) & 0xF`.",
        expected_wrong=computes(wrong.sign_extended),
    ),
    Misconception(
        code="nibble-divided",
        title="Division and remainder of a word that is negative",
        message=(
            "`word // 16**i % 16` cuts out a nibble in Python, which rounds down. In Triton `//` "
            "and `%` of integers round towards 0: where the highest nibble is 8 or more the word "
            "is negative, and so are its quotients and remainders, also of what was shifted."
        ),
        next_step="Shift and mask: `(word >> (4 * i)) & 0xF` is right whatever the sign.",
        expected_wrong=computes(wrong.divided),
    ),
    Misconception(
        code="nibble-not-cut-out",
        title="A number is not the four bits of its place",
        message=(
            "Each number must be cut out of its word: shifted down by *four* bits for each place, "
            "and the rest masked off. Here all eight are the lowest nibble, or the shift counts "
            "single bits, or what lies above the four bits is still there."
        ),
        next_step="`q = (words >> (offs_k % 8 * 4)[:, None]) & 0xF`.",
        expected_wrong=computes(wrong.shifted_wrongly),
        detector=wrong.overflows_uncut,
    ),
    Misconception(
        code="words-repeated",
        title="Every step of the loop meets the same words",
        message=(
            "The words of the first block of k are unpacked in each step: their pointers, or the "
            "offsets of their rows, do not move on, while the scales do."
        ),
        next_step=(
            "Compute the row of words from the loop's `offs_k // 8`; or advance the pointers by "
            "BLOCK_K // 8 rows."
        ),
        expected_wrong=computes_with_block(wrong.words_repeated),
    ),
    Misconception(
        code="packed-along-n",
        title="The numbers are looked for along n",
        message=(
            "Eight numbers of one *column* share a word: packed_b has k / 8 rows and n columns. "
            "Here the column chooses the nibble, or eight neighbours of a row share a word."
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
            "The result holds q * scale - zero. The zero point is a number like q, counted in "
            "steps; the scale says how large a step is."
        ),
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.zero_after_scale),
    ),
    Misconception(
        code="zero-left-out",
        title="The zero points do not enter",
        message=(
            "The result holds q * scale, or (q - 8) * scale as if every zero point lay in the "
            "middle. Each group has one of its own, and `zeros` has it."
        ),
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.zero_left_out),
    ),
    Misconception(
        code="zero-turned",
        title="A sign is wrong where the zero point enters",
        message="The result holds (q + zero) * scale, or (zero - q) * scale.",
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.zero_turned),
    ),
    Misconception(
        code="difference-wraps",
        title="The difference is computed without a sign",
        message=(
            "Where q is smaller than its zero point, `q - zero` is negative. Here both are "
            "`uint8`, which knows no sign: 3 - 5 is 254."
        ),
        next_step="Convert before the difference: `q.to(tl.float32) - zero.to(tl.float32)`.",
        expected_wrong=computes(wrong.difference_wraps),
    ),
    Misconception(
        code="zero-off-by-one",
        title="The zero points are off by one",
        message=(
            "The result holds (q - zero - 1) * scale, or (q - zero + 1) * scale. Some file formats "
            "keep the zero point less one; `zeros` has it as it is."
        ),
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.zero_off_by_one),
    ),
    Misconception(
        code="scale-left-out",
        title="The scales do not multiply",
        message="The result holds q - zero without its scale, or that divided by the scale.",
        next_step="`b = (q - zero).to(tl.float32) * scale`.",
        expected_wrong=computes(wrong.scale_left_out),
    ),
    Misconception(
        code="scales-pile-up",
        title="The sum so far is scaled again with each group",
        message=(
            "One accumulator goes through all groups, and after each group the whole of it is "
            "multiplied by that group's scale. So the first group's part gets the scales of all "
            "the others, too."
        ),
        next_step="Scale the group's own part, then add it: `total += tl.dot(a, q) * scale`.",
        expected_wrong=computes(wrong.scales_pile_up),
    ),
    Misconception(
        code="one-group-for-all",
        title="One group's scales count for all of k",
        message=(
            "The scales, or the zero points, are loaded once, those of the first or the last "
            "group; or the group is counted in words, so that the first one lasts eight times as "
            "long. With a single group along k nobody notices."
        ),
        next_step="Row k of b has those of group `k // GROUP`: load them inside the loop.",
        expected_wrong=computes(wrong.one_group),
    ),
    Misconception(
        code="group-of-block-start",
        title="A group ends inside a block, and the block goes on with it",
        message=(
            "The whole block of k has the scales, or the zero points, of the group in which it "
            "*starts*. That is right only as long as BLOCK_K divides the size of a group."
        ),
        next_step=(
            "Ask for the group of each row: `groups = offs_k // GROUP`, and load a tile of scales "
            "with `groups[:, None]` down its side."
        ),
        expected_wrong=computes_with_block(wrong.group_of_block),
    ),
    Misconception(
        code="groups-overlap",
        title="The first rows of the next group are counted with a group",
        message=(
            "A group is walked through in blocks of a power of two. Where its size is none, as 48 "
            "or 80, the last block reaches into the next group: those rows are counted twice, once "
            "with the scale and the zero point of the wrong group."
        ),
        next_step="Mask the rows by the end of the *group* too: `offs_k < (group + 1) * GROUP`.",
        expected_wrong=computes(wrong.groups_overlap),
    ),
    Misconception(
        code="group-per-block",
        title="Every step of the loop goes on to the next group",
        message=(
            "Step number i of the loop uses row i of the scales, or of the zero points. A group "
            "has k / scales.shape[0] rows of b, a step has BLOCK_K."
        ),
        next_step="`groups = offs_k // GROUP`, with offs_k counted from the beginning of k.",
        expected_wrong=computes_with_block(wrong.group_per_block),
    ),
    Misconception(
        code="group-miscounted",
        title="Rows are given to the wrong groups",
        message=(
            "A group is a run of neighbours along k. Here neighbours go to different groups "
            "(`offs_k % n_groups`), or the groups run backwards, or the number of groups was "
            "taken for the number of rows in a group, so that k goes on beyond the last one."
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
            "The first tile of columns is right. The others have its scales, or its zero points: "
            "the offsets of that load do not depend on the program."
        ),
        next_step="Load them with the columns of the tile, `offs_n[None, :]`.",
        expected_wrong=computes_with_block(wrong.first_columns),
    ),
    Misconception(
        code="scales-transposed",
        title="Scales or zero points are read with rows and columns exchanged",
        message=(
            "`scales` and `zeros` have a row for each group and a column for each column of b. "
            "They are read as if it were the other way round."
        ),
        next_step="`scales_ptr + groups[:, None] * N + offs_n[None, :]`.",
        expected_wrong=computes(wrong.transposed_groups),
    ),
)

BRAIN_THROUGH_HALF = Misconception(
    code="brain-through-half",
    title="Numbers in bfloat16 went through float16",
    message=(
        "bfloat16 has the range of float32, and float16 ends at 65,504 and has few digits left "
        "below 0.00006. Large numbers became infinite on the way, or small ones were rounded off."
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
