"""What counts as solved in the lesson on autotuning: the product, its tiles chosen by measuring."""

from __future__ import annotations

from dataclasses import replace

from graders.course.common import detectors, requirements
from graders.course.matmul.exercise import MATMUL
from graders.course.swizzling.exercise import PRODUCT_MISTAKES, TILES_LOST
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import (
    Evidence,
    Misconception,
)

COUNTS = range(2, 65)


def _added_up(evidence: Evidence) -> bool:
    """The output is a whole multiple, from 2 up, of the right one."""
    actual, expected = evidence.actual, evidence.expected.double()
    if actual is None or not expected.numel():
        return False
    weight = (expected * expected).sum()
    ratio = float((actual.double() * expected).sum() / weight) if weight > 0 else 0.0
    times = round(ratio) if ratio == ratio and abs(ratio) < 1e6 else 0
    if times in COUNTS and abs(ratio - times) < 0.01:
        return looks_like(evidence, times * expected)
    uninitialised = detectors.has_fault(evidence, frozenset({"uninitialised-read"}))
    return uninitialised and not _starts_from_nothing(evidence)


def _starts_from_nothing(evidence: Evidence) -> bool:
    """Tell whether the kernel added to uninitialised memory: all is NaN, and all was stored."""
    actual = evidence.actual
    tuned = any(launch.configs > 1 for launch in evidence.launches)
    if actual is None or not actual.numel() or not tuned or detectors.has_holes(evidence):
        return False
    return bool(actual.isnan().all()) and len(evidence.launches) == 1


def _configs_disagree(evidence: Evidence) -> bool:
    """The tuner saw different results, or the winner left the end of the output out."""
    races = frozenset({"write-race", "read-write-race"})
    if detectors.has_fault(evidence, races) or _added_up(evidence):
        return False
    disagree = detectors.has_fault(evidence, frozenset({"order-dependent"}))
    return disagree or detectors.ran_out_of_tiles(evidence)


def _grids(evidence: Evidence) -> set[tuple[int, ...]]:
    """The grids on which differently configured launches of one case ran."""
    return {launch.grid for launch in evidence.launches if launch.configs > 1}


def _grid_is_fixed(evidence: Evidence) -> bool:
    """Every configuration ran on the same grid."""
    return len(_grids(evidence)) == 1 and _configs_disagree(evidence)


def _kernel_depends(evidence: Evidence) -> bool:
    """The grid follows the configuration, and the results still differ.

    With only one tile this does not show; then the larger cases decide.
    """
    grids = _grids(evidence)
    return (len(grids) > 1 or grids == {(1, 1, 1)}) and _configs_disagree(evidence)


AUTOTUNED_MATMUL = replace(
    MATMUL,
    name="autotuned_matmul",
    lesson="autotuning",
    title="A matrix product that tunes itself",
    hints=(
        "There are three parts: a list of candidates, a function that removes those that do not "
        "fit, and a launch. Which numbers should differ between a small and a large matrix? Who "
        "knows the tile when the grid is computed?",
        "List five to eight different `triton.Config`s, with a small one first, such as 64×64×32, "
        "4 warps, 3 stages. `keep_what_fits` returns `configs[:1]` unless "
        "`named_args['a_ptr'].is_cuda`. On a GPU, compare each configuration's shared memory and "
        "accumulator with the limits, as in the lesson's table.",
        "Keep a configuration if `buffers * (block_m + block_n) * block_k * a.element_size() <= "
        "gpu.shared_memory_per_block_optin`, where `buffers` is `num_stages`, one less if "
        "`gpu.major < 9`, and `block_m * block_n // (32 * config.num_warps) <= 128`. Return `kept "
        "or configs[:1]`. Grid: `lambda meta: (triton.cdiv(m, meta['BLOCK_M']) * triton.cdiv(n, "
        "meta['BLOCK_N']),)`, one axis.",
    ),
    challenge="Make the key empty and check again: the values stay correct, so what is lost?",
    misconceptions=(
        Misconception(
            code="tuning-runs-add-up",
            title="The tuner's runs add up in the output",
            message=(
                "The kernel adds to the contents of the output, and the tuner launches it many "
                "times on the same memory. So the result is a multiple of the correct one."
            ),
            next_step=(
                "Overwrite the output instead. If the kernel must add, start from zeros and "
                "pass `reset_to_zero=['c_ptr']`."
            ),
            detector=_added_up,
        ),
        Misconception(
            code="reset-only-while-tuning",
            title="The output is cleared only while the tuner measures",
            message=(
                "The kernel adds to an output from `torch.empty`. `reset_to_zero` clears it "
                "only during the search, so with a known key the sums start from undefined "
                "memory."
            ),
            next_step="Allocate the output with `torch.zeros`, and keep `reset_to_zero`.",
            detector=_starts_from_nothing,
        ),
        Misconception(
            code="grid-ignores-config",
            title="The grid does not fit every configuration",
            message=(
                "All configurations ran on the same grid, computed from a fixed block size. At "
                "least one configuration then has too few or too many programs."
            ),
            next_step=(
                "Make the grid a function. The given kernel uses one axis: `lambda meta: "
                "(triton.cdiv(M, meta['BLOCK_M']) * triton.cdiv(N, meta['BLOCK_N']),)`."
            ),
            detector=_grid_is_fixed,
        ),
        Misconception(
            code="config-changes-result",
            title="The configurations compute different results",
            message=(
                "The grid follows the configuration, but with at least one of them the kernel "
                "leaves out elements or computes others. Some number in the kernel fits only "
                "one configuration."
            ),
            next_step=(
                "Run the kernel with that configuration alone. Check each use of a block size: "
                "offsets, the step along k, masks and the grid."
            ),
            detector=_kernel_depends,
        ),
        TILES_LOST,
        *PRODUCT_MISTAKES,
    ),
    requirements=requirements.TUNED,
)

EXERCISES = (AUTOTUNED_MATMUL,)
