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
        title="A scale is missing",
        message=(
            "The result is the product of the stored fp8 numbers, with only one of the two "
            "scales or none. The quantizer divided each row by its scale, so you must "
            "multiply by it."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.left_out),
    ),
    Misconception(
        code="one-scale-for-all",
        title="All rows, or all columns, get one scale",
        message=(
            "Each row of a and each column of b has its own scale. Here all of them, or those "
            "of a tile, use the same one."
        ),
        next_step=(
            "Load as many scales as the tile has rows and columns: `tl.load(scale_a_ptr + "
            "offs_m, mask=offs_m < M, other=0.0)`."
        ),
        expected_wrong=computes(wrong.one_for_all) + computes_with_block(wrong.one_for_tile),
    ),
    Misconception(
        code="scales-of-first-tile",
        title="Each tile has the scales of the first one",
        message=(
            "The first tile of rows or columns is correct. The others use its scales: the "
            "offsets of that load do not depend on the program."
        ),
        next_step="Load them with the offsets of the tile, `offs_m` and `offs_n`.",
        expected_wrong=computes_with_block(wrong.of_first_tile),
    ),
    Misconception(
        code="scales-exchanged",
        title="A scale is applied along the wrong axis",
        message=(
            "scale_a belongs to the *rows* of the result, scale_b to its *columns*. Here `[:, "
            "None]` and `[None, :]`, or the two tensors, are exchanged. Square matrices hide "
            "it."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.exchanged) + computes_with_block(wrong.exchanged_in_tile),
        detector=wrong.left_other_scales,
    ),
    Misconception(
        code="scale-along-k",
        title="A scale is applied along k",
        message=(
            "scale_a has a number for each *row* of a, scale_b for each *column* of b. Here a "
            "scale varies along k, the axis of the sum."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.along_k),
    ),
    Misconception(
        code="scale-in-each-step",
        title="The sum is scaled again in each step",
        message=(
            "Each step of the loop scales the running sum, so the first block of k is scaled "
            "once per step. If k fits into one block, it does not show."
        ),
        next_step="Scale once, after the loop, or scale only the product of each step.",
        expected_wrong=walks_through_blocks(wrong.in_each_step),
    ),
    Misconception(
        code="scale-divides",
        title="The result is divided by a scale",
        message="The quantizer divided by the scale, so the product must multiply by it.",
        next_step=APPLY,
        expected_wrong=computes(wrong.divided),
    ),
    Misconception(
        code="scale-times-largest",
        title="An extra factor of 448",
        message=(
            "The result is off by 448, or by 448 times 448: the kernel takes a scale for the "
            "largest number of its row. The scale is that number divided by 448 already."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.times_largest),
    ),
    Misconception(
        code="scale-of-other-power",
        title="A scale is applied twice, or as a square root",
        message=(
            "The kernel scales both the numbers before the product *and* the sum after it, or "
            "takes the root of a scale."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.other_power),
    ),
    Misconception(
        code="scales-added",
        title="The scales are added",
        message=(
            "Scales are factors: multiply an element by the scale of its row *and* that of "
            "its column. Here they are added, or the larger one is used."
        ),
        next_step=APPLY,
        expected_wrong=computes(wrong.added),
    ),
)

OF_THE_FORMATS = (
    Misconception(
        code="scaled-tile-rounded",
        title="Scaled numbers were rounded to few bits",
        message=(
            "The kernel scales a tile of a or b and rounds it again before the product. e4m3 "
            "has only three bits of mantissa, so this loses precision and range."
        ),
        next_step=(f"Multiply the tiles as they were loaded. {APPLY} Neither scale depends on k."),
        expected_wrong=computes(wrong.tiles_rounded),
        rules_out=frozenset({"accumulates-in-half"}),
        detector=wrong.tiles_were_rounded,
    ),
    Misconception(
        code="scale-rounded",
        title="The scales lost digits or range",
        message=(
            "The scales are float32, but they went through a format with fewer bits. Very "
            "small ones became 0, very large ones infinite, or digits were lost."
        ),
        next_step="Keep them in float32, and convert once, at the store of the result.",
        expected_wrong=computes(wrong.scales_rounded),
    ),
    Misconception(
        code="rounded-before-scales",
        everywhere=True,
        title="The sum is rounded before the scales are applied",
        message=(
            "The sum over k is correct, but you convert it to bfloat16 *before* the scales. "
            "So the result is rounded twice, and some values are off by one step."
        ),
        next_step="Multiply the float32 accumulator by both scales, and convert once, to store it.",
        rules_out=frozenset({"accumulates-in-half", "computes-in-half"}),
        detector=_rounded_before_scales,
    ),
    Misconception(
        code="sum-overflows-half",
        title="The sum overflowed half precision",
        message=(
            "A sum became infinite. float16 ends at 65,504, and a single product can be 448 * "
            "448 = 200,704. The scales come after the sum, too late to help."
        ),
        next_step=(
            "`accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)`, and scale before "
            "you convert."
        ),
        detector=wrong.overflows_in_half,
    ),
    Misconception(
        code="result-rounded",
        title="The result went through another format",
        message=(
            "The sum or the result was converted to fp8 or float16 before bfloat16. Large "
            "values are lost, small ones become 0, and fp8 keeps only three bits of mantissa."
        ),
        next_step="`c.to(c_ptr.dtype.element_ty)`, from float32 and only once.",
        expected_wrong=computes(wrong.result_rounded) + walks_through_blocks(wrong.sum_rounded),
    ),
    Misconception(
        code="bits-misread",
        title="The eight bits are read as another format",
        message=(
            "The same eight bits are another number in e5m2, int8 or uint8. A view as "
            "integers in the launcher, or `bitcast=True` in the kernel, changes their "
            "meaning."
        ),
        next_step="Pass the tensors as they are: `tl.load` then gives a tile of `tl.float8e4nv`.",
        expected_wrong=computes_from_memory(wrong.bits_misread),
    ),
    Misconception(
        code="bits-decoded-wrong",
        title="The eight bits are decoded by a wrong rule",
        message=(
            "e4m3 has a sign, four exponent bits (bias 7) and three mantissa bits. If the "
            "exponent bits are 0, the value is mantissa / 8 · 2**-6. Here the bias or this "
            "rule is wrong."
        ),
        next_step="Let Triton decode them: `tile.to(tl.float32)`, or `tl.dot` with the tiles.",
        expected_wrong=computes_from_memory(wrong.decoded_wrongly),
    ),
)

OF_THE_FACTORS = (
    Misconception(
        code="factor-transposed",
        title="An operand is read transposed",
        message=(
            "The strides or the offsets of one operand are exchanged, or b is read as (n, k). "
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
        message="The two operands are exchanged, and matrix multiplication is not commutative.",
        next_step="Check the order of the pointers at the launch, and of the tiles in `tl.dot`.",
        expected_wrong=computes(wrong.swapped),
        detector=wrong.left_factor,
    ),
    Misconception(
        code="b-stride-is-k",
        title="The rows of b are taken to be as long as those of a",
        message=(
            "The kernel steps over K elements to the next row of b, but a row of b has N "
            "elements. Square matrices hide it."
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
