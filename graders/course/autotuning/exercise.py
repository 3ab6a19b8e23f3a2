"""What counts as solved in the lesson on autotuning: the product, its tiles chosen by measuring."""

from __future__ import annotations

from dataclasses import replace

from graders.course.common import detectors, promises
from graders.course.matmul.exercise import MATMUL
from graders.course.swizzling.exercise import PRODUCT_MISTAKES, TILES_LOST
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import (
    Choice,
    Evidence,
    Misconception,
    Question,
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
    return detectors.has_fault(evidence, frozenset({"uninitialised-read"}))


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
    promises=promises.TUNED,
)

EXERCISES = (AUTOTUNED_MATMUL,)

QUIZ = (
    Question(
        "What is `key` in `@triton.autotune(configs=..., key=[...])` for?",
        (
            Choice(
                "It names the meta-parameters that are tuned",
                "The configurations name those. The key says when to search *again*.",
            ),
            Choice(
                "A new value of these arguments starts a new search",
                "Yes. For each new combination every configuration is timed again.",
                right=True,
            ),
            Choice(
                "It sorts the configurations, so that the search can stop early",
                "The tuner times every configuration. Their order plays no part.",
            ),
            Choice(
                "It names the arguments that are compile-time constants",
                "`tl.constexpr` in the kernel's signature does that.",
            ),
        ),
    ),
    Question(
        "A kernel is autotuned with two configurations. Its tiles need one program each, on one "
        "axis. Which grid is correct?",
        (
            Choice(
                "`(triton.cdiv(n, 1024),)`",
                "The grid is then the same for both configurations, and fits at most one block "
                "size.",
            ),
            Choice(
                "`lambda meta: (triton.cdiv(n, meta['BLOCK_SIZE']),)`",
                "Yes: the tuner calls it with the meta-parameters of each configuration that it "
                "runs.",
                right=True,
            ),
            Choice(
                "`lambda meta: (n,)`",
                "That starts a program for each element. Almost all of them have nothing to do.",
            ),
            Choice(
                "`(triton.cdiv(n, some_kernel.best_config.kwargs['BLOCK_SIZE']),)`",
                "The tuner has no best configuration before its first launch, and the grid "
                "would be fixed during the search.",
            ),
        ),
    ),
    Question(
        "A kernel updates its input in place and is autotuned. What goes wrong?",
        (
            Choice(
                "Nothing, because only the last run counts",
                "Each run starts from the data that the previous run left.",
            ),
            Choice(
                "Each timed run changes the data for the next run",
                "Yes: use `restore_value` or `reset_to_zero`, or write to another tensor.",
                right=True,
            ),
            Choice(
                "The tuner raises an error, because the results of its runs differ",
                "The tuner does not compare results.",
            ),
            Choice(
                "The times are wrong, because in-place kernels are faster",
                "The times are fine. The contents of the tensor are wrong.",
            ),
        ),
    ),
    Question(
        "`def keep(configs, named_args, **kwargs): return [c for c in configs if c.num_warps == "
        "8]` prunes a list in which all configurations have 4 warps. What is missing?",
        (
            Choice(
                "It should compare `c.kwargs['num_warps']`",
                "`num_warps` is an attribute of the configuration. `kwargs` has the kernel's "
                "own meta-parameters.",
            ),
            Choice(
                "A fallback: it returns an empty list",
                "Yes: return at least one configuration, for example `kept or configs[:1]`.",
                right=True,
            ),
            Choice(
                "It should compile each configuration before it removes one",
                "Pruning is there to avoid these compilations.",
            ),
            Choice(
                "Nothing: the tuner then tries all configurations",
                "The tuner tries what the function returns. With an empty list it fails.",
            ),
        ),
    ),
    Question(
        "Which measurement must never choose a configuration?",
        (
            Choice(
                "The time in the interpreter",
                "Yes. It measures numpy on your CPU, not a GPU.",
                right=True,
            ),
            Choice(
                "The median time on the GPU that will run the kernel",
                "That is the measurement to use.",
            ),
            Choice(
                "The time on this GPU with cold caches, measured over many runs",
                "That is a careful measurement on the correct machine.",
            ),
            Choice(
                "The median of hundreds of launches on the same inputs",
                "With a kernel that only writes its output, that is what the tuner does.",
            ),
        ),
    ),
)
