"""The misconceptions about a product of fp8 numbers with a scale for each row and column."""

from __future__ import annotations

import torch

from graders.course.common.expected import (
    computes,
    computes_from_memory,
    computes_with_block,
    walks_through_blocks,
)
from graders.course.low_precision.mistakes import fp8_results as wrong
from graders.course.low_precision.reference import fp8_matmul, fp8_matmul_magnitude
from graders.course.matmul.mistakes.product import k_step_wrong, product_mistakes
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence, Misconception


def _rounded_before_scales(evidence: Evidence) -> bool:
    """Tell whether the sum was rounded to bfloat16, and scaled then, in one step or in two."""
    a, b, scale_a, scale_b = widened(evidence.args)
    rows, columns = scale_a[:, None], scale_b[None, :]
    total = _brain(a @ b)
    scaled = [
        total * rows * columns,
        _brain(total * rows) * columns,
        _brain(total * _brain(rows)) * _brain(columns),
    ]
    return wrong.bits_of_one(evidence, scaled)


def _brain(x: torch.Tensor) -> torch.Tensor:
    return wrong.rounded(x, torch.bfloat16)


APPLY = "After the loop: `accumulator * scale_a[:, None] * scale_b[None, :]`."

OF_THE_SCALES = (
    Misconception(
        code="scale-left-out",
        title="A scale does not enter",
        message=(
            "The result is the product of the numbers as they lie in memory, with one of the two "
            "scales or with none. An fp8 number means nothing without its scale: a row was "
            "divided by it, so that its largest number fits."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.left_out),
    ),
    Misconception(
        code="one-scale-for-all",
        title="One scale counts for all rows, or for all columns",
        message=(
            "Each row of a has a scale of its own, and so has each column of b. Here all of them "
            "have that of one, or those of a tile do: a scalar was loaded, or the scales were "
            "averaged."
        ),
        next_step=(
            "Load as many scales as the tile has rows and columns: "
            "`tl.load(scale_a_ptr + offs_m, mask=offs_m < M, other=0.0)`."
        ),
        expected_wrong=computes(wrong.one_for_all) + computes_with_block(wrong.one_for_tile),
    ),
    Misconception(
        code="scales-of-first-tile",
        title="Each tile has the scales of the first one",
        message=(
            "The first tile of rows, or of columns, is right. The others have its scales: the "
            "offsets of that load do not depend on the program."
        ),
        next_step="Load them with the offsets of the tile, `offs_m` and `offs_n`.",
        expected_wrong=computes_with_block(wrong.of_first_tile),
    ),
    Misconception(
        code="scales-exchanged",
        title="A scale is applied along the wrong axis",
        message=(
            "scale_a belongs to the *rows* of the result, scale_b to its *columns*. Here one of "
            "them is applied the other way round: `[:, None]` and `[None, :]` are exchanged, or "
            "the two tensors are. Square matrices let it get this far."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.exchanged) + computes_with_block(wrong.exchanged_in_tile),
        detector=wrong.left_other_scales,
    ),
    Misconception(
        code="scale-along-k",
        title="A scale is applied along k",
        message=(
            "scale_a has a number for each *row* of a, scale_b for each *column* of b. Here the "
            "tile of a is scaled column by column, or that of b row by row: along k, which the "
            "sum runs over. A scale of that kind exists, too, but not in this contract."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.along_k),
    ),
    Misconception(
        code="scale-in-each-step",
        title="The sum is scaled again in each step",
        message=(
            "What was summed up so far is scaled in every step of the loop, so that the first "
            "block of k is scaled once for each step. With a k that fits into one block nobody "
            "notices."
        ),
        next_step="Scale once, after the loop; or in each step that step's product alone.",
        expected_wrong=walks_through_blocks(wrong.in_each_step),
    ),
    Misconception(
        code="scale-divides",
        title="The result is divided by a scale",
        message=(
            "Whoever made the numbers divided by the scale. Whoever uses them multiplies with it."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.divided),
    ),
    Misconception(
        code="scale-times-largest",
        title="448 enters once more",
        message=(
            "The result is off by a factor of 448, or of 448 times 448: a scale was taken for the "
            "largest number of its row. It is that number divided by 448 already, so an element "
            "is worth its eight bits times the scale."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.times_largest),
    ),
    Misconception(
        code="scale-of-other-power",
        title="A scale enters twice, or by its root",
        message=(
            "A scale is applied to the numbers before the product *and* to the sum after it, or "
            "its root is taken."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.other_power),
    ),
    Misconception(
        code="scales-added",
        title="The scales are added",
        message=(
            "Scales are factors: an element of the result has the scale of its row *times* that "
            "of its column. Here they are added, to each other or to the product, or the larger "
            "one is taken."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.added),
    ),
)

OF_THE_FORMATS = (
    Misconception(
        code="scaled-tile-rounded",
        title="Numbers were scaled and then rounded again",
        message=(
            "The scale was applied to a tile of a, or of b, and the tile was rounded to few bits "
            "again before the product: e4m3 keeps three bits of mantissa, and what is beyond its "
            "range is lost. The numbers are exact as they are, and so are their products in fp32."
        ),
        next_step=(
            f"Multiply the tiles as they were loaded. {APPLY} For each row and column the scale "
            "can be taken out of the sum."
        ),
        expected_wrong=computes(wrong.tiles_rounded),
        rules_out=frozenset({"accumulates-in-half"}),
        detector=wrong.tiles_were_rounded,
    ),
    Misconception(
        code="scale-rounded",
        title="The scales lost digits or range",
        message=(
            "The scales are float32. Here they went through a format with fewer bits: very small "
            "ones became 0, very large ones infinite, or digits were rounded off."
        ),
        next_step="Keep them in float32, and convert once, at the store of the result.",
        expected_wrong=computes(wrong.scales_rounded),
    ),
    Misconception(
        code="rounded-before-scales",
        everywhere=True,
        title="The sum is rounded before the scales are applied",
        message=(
            "The sum over k is right. But it was converted to bfloat16 *before* it was multiplied "
            "by the scales, and the product was rounded once more: two roundings where one is due, "
            "so that some results are the neighbours of the right ones."
        ),
        next_step="Multiply the float32 accumulator by both scales, and convert once, to store it.",
        rules_out=frozenset({"accumulates-in-half", "computes-in-half"}),
        detector=_rounded_before_scales,
    ),
    Misconception(
        code="sum-overflows-half",
        title="The sum left half precision",
        message=(
            "A sum of products became infinite. float16 ends at 65,504, and 448 times 448 is "
            "200,704: a single product of two fp8 numbers can be too large for it. The scales "
            "come after the sum, too late to help."
        ),
        next_step=(
            "`accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)`, and scale it before "
            "it is converted."
        ),
        detector=wrong.overflows_in_half,
    ),
    Misconception(
        code="result-rounded",
        title="The result was rounded to another format on the way",
        message=(
            "The sum, or the finished result, went through fp8 or float16 before it was stored as "
            "bfloat16. What was too large for that is lost, what was too small became 0, and of "
            "fp8 three bits of mantissa are left."
        ),
        next_step="`c.to(c_ptr.dtype.element_ty)`, from float32 and only once.",
        expected_wrong=computes(wrong.result_rounded) + walks_through_blocks(wrong.sum_rounded),
    ),
    Misconception(
        code="bits-misread",
        title="The eight bits are read as another format",
        message=(
            "The same eight bits mean another number as e5m2, as int8 or as uint8. A launcher "
            "that views the tensor as integers, or a kernel that converts with `bitcast=True`, "
            "changes what they mean."
        ),
        next_step="Pass the tensors as they are: `tl.load` then brings a tile of `tl.float8e4nv`.",
        expected_wrong=computes_from_memory(wrong.bits_misread),
    ),
    Misconception(
        code="bits-decoded-wrong",
        title="The eight bits are decoded with a wrong rule",
        message=(
            "e4m3 has a sign, four bits of exponent with a bias of 7, and three bits of mantissa. "
            "Where the exponent bits are all 0 the number has no leading 1: it is mantissa / 8 "
            "times 2**-6, and zero is one of these. Here the bias is another one, or those small "
            "numbers are treated as the others are, or lost."
        ),
        next_step="Let Triton decode them: `tile.to(tl.float32)`, or `tl.dot` with the tiles.",
        expected_wrong=computes_from_memory(wrong.decoded_wrongly),
    ),
)

OF_THE_FACTORS = (
    Misconception(
        code="factor-transposed",
        title="One of the factors is read transposed",
        message=(
            "The strides of one factor are exchanged, or its row and column offsets have changed "
            "places; or b is taken to lie in memory as (n, k), as weights of a layer often do. "
            "Square matrices hide it."
        ),
        next_step=(
            "a is indexed by (m, k), b by (k, n): "
            "`b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn`."
        ),
        expected_wrong=computes_from_memory(wrong.factor_transposed),
        detector=wrong.left_factor,
    ),
    Misconception(
        code="factors-swapped",
        title="The product is b @ a",
        message="Matrix multiplication is not commutative, and the two factors changed places.",
        next_step="Check the order of the pointers at the launch, and of the tiles in `tl.dot`.",
        expected_wrong=computes(wrong.swapped),
        detector=wrong.left_factor,
    ),
    Misconception(
        code="b-stride-is-k",
        title="The rows of b are taken to be as long as those of a",
        message=(
            "The kernel finds the next row of b by stepping over K elements. A row of b holds N "
            "of them: K is the number of its rows. Square matrices hide it."
        ),
        next_step="Pass `b.stride(0)` and `b.stride(1)`; a and b need two strides each.",
        expected_wrong=computes_from_memory(wrong.rows_as_long_as_k),
        detector=wrong.left_factor,
    ),
)

MISTAKES = product_mistakes(
    reference=fp8_matmul,
    magnitude=fp8_matmul_magnitude,
    operands=wrong.operands,
    finish=wrong.scaled,
    special=(
        *OF_THE_SCALES,
        *OF_THE_FORMATS,
        *OF_THE_FACTORS,
        k_step_wrong(wrong.operands, wrong.scaled),
    ),
)
