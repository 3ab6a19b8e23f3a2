"""The misconceptions about a mixture of experts in one launch."""

from __future__ import annotations

from graders.course.common import rounding, shared
from graders.course.common.detectors import RACES, has_fault
from graders.course.common.expected import both_factors, computes_from_memory, product_alone
from graders.course.common.strays import has_left
from graders.course.experts.mistakes import dealing, tile_order
from graders.course.experts.mistakes import wrong_results as wrong
from graders.course.experts.mistakes.of_each_expert import groups, of_each_expert
from graders.course.experts.mistakes.owner_records import OF_THE_OWNER
from graders.course.experts.mistakes.tile_records import OF_THE_TILES
from graders.course.experts.reference import grouped_gemm, grouped_gemm_magnitude
from graders.course.matmul.mistakes import product as matmul
from graders.course.matmul.mistakes.bounds import bound_of_other_axis
from graders.judge.plan.requirements import Plans, Requirement
from graders.judge.plan.steps import Launch, Tune
from graders.judge.records import Evidence, Misconception


def _reads_oblong_outside(evidence: Evidence) -> bool:
    """Tell whether w was left at one of its matrices, none of which is square."""
    w = evidence.args[1]
    return w.shape[1] != w.shape[2] and has_left(evidence, w)


def _reads_offsets_outside(evidence: Evidence) -> bool:
    """Tell whether a read left the offsets in a program that has a tile."""
    return has_left(evidence, evidence.args[2])


def _stores_over_next(evidence: Evidence) -> bool:
    """Tell whether programs stored to the same rows, where several experts have some."""
    filled = [first for first, end in groups(evidence.args[2]) if end > first]
    return len(filled) > 1 and has_fault(evidence, RACES)


OF_THE_PROGRAMS = (
    Misconception(
        code="program-without-tile",
        places=True,
        title="A program without a tile does not return",
        message=(
            "There are more programs than tiles, as there must be. A program that found no "
            "expert for its number went on, and read the matrix or the offsets of an "
            "expert that does not exist."
        ),
        next_step="Put the work for a tile into `if expert < n_experts:`.",
        detector=dealing.strayed_without_tile,
    ),
    Misconception(
        code="expert-lanes-unmasked",
        places=True,
        title="Lanes past the last expert read offsets",
        message=(
            "The block has a power of two of lanes, and there are e experts. The remaining "
            "lanes read past the end of offsets and count what they find as rows."
        ),
        next_step=(
            "Load the starts with `tl.load(offsets_ptr + experts, mask=experts < "
            "n_experts, other=0)`. Load the ends in the same way at `experts + 1`."
        ),
        detector=_reads_offsets_outside,
    ),
)

OF_THE_EDGES = (
    Misconception(
        code="group-end-unmasked",
        places=True,
        title="A tile stores over the rows of the next expert",
        message=(
            "The last tile of an expert has more lanes than the expert has rows left. The "
            "mask of the rows does not end with the expert, so these lanes overwrite rows "
            "of the next one."
        ),
        next_step="Mask the rows of a tile with the end of its *expert*: `offs_m < end`.",
        detector=_stores_over_next,
    ),
    Misconception(
        code="weights-transposed",
        title="The matrices of w are read transposed",
        message=(
            "The result is x @ w[i].T, or the kernel assumes rows of w[i] with k elements. "
            "w is (e, k, n): an expert's matrix has k rows of n elements. Square matrices "
            "hide the mistake."
        ),
        next_step=(
            "Write `w_ptr + expert * stride_we + offs_k[:, None] * stride_wk + "
            "offs_n[None, :] * stride_wn`."
        ),
        expected_wrong=computes_from_memory(wrong.weights_transposed),
        detector=_reads_oblong_outside,
    ),
    Misconception(
        code="accumulator-kept",
        title="The accumulator is not reset between tiles",
        message=(
            "Each program computes several tiles. The first one is correct; the next ones "
            "contain the sums of the earlier tiles, because the accumulator is set to 0 "
            "only once."
        ),
        next_step="Zero the accumulator inside the loop over tiles, before the loop over k.",
        detector=tile_order.accumulator_goes_on,
    ),
)


K_MISTAKES = tuple(
    of_each_expert(mistake)
    for mistake in (
        matmul.k_block_repeated(both_factors, product_alone),
        matmul.k_step_wrong(both_factors, product_alone),
        matmul.k_wrapped(both_factors, product_alone),
        matmul.k_loop_missing(both_factors, product_alone),
        matmul.k_tail_dropped(both_factors, product_alone),
        bound_of_other_axis(both_factors, product_alone),
        matmul.accumulator_overwritten(both_factors, product_alone),
        matmul.elementwise_product(both_factors, product_alone),
    )
)

MISTAKES = (
    shared.contiguous_assumed(grouped_gemm, "the width of the matrix"),
    of_each_expert(matmul.k_not_masked(both_factors)),
    shared.other_missing("0.0"),
    *OF_THE_PROGRAMS,
    *OF_THE_OWNER,
    *OF_THE_TILES,
    *OF_THE_EDGES,
    *K_MISTAKES,
    rounding.accumulates_in_half(grouped_gemm_magnitude),
    rounding.lossy_dtype(grouped_gemm),
    rounding.tf32_product(),
    shared.missing_mask("a matrix", "offs_m and offs_n"),
    shared.axis_ignores_pid(),
    shared.offset_ignores_pid(),
)


def _several_launches(plans: Plans) -> str | None:
    counts = (sum(isinstance(step, Launch | Tune) for step in case.steps) for case in plans.a100)
    most = max(counts, default=0)
    return f"In one call there were {most} launches." if most > 1 else None


ONE_LAUNCH = Requirement(
    code="several-launches",
    title="There is more than one launch",
    message=(
        "But the exercise asks for one launch for all experts. A launch for each "
        "expert costs its start each time, and a few rows leave most of the GPU idle."
    ),
    next_step=(
        "Use one grid for the tiles of all experts: at most `triton.cdiv(t, BLOCK_M) "
        "+ e` of them. Each program finds its expert in `offsets`."
    ),
    broken=_several_launches,
)
