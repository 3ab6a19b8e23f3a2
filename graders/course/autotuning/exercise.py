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
    """Only memory that nobody has set is added to: all is NaN, and everything was reached."""
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

    Where there is only one tile nobody can tell; then the larger cases decide.
    """
    grids = _grids(evidence)
    return (len(grids) > 1 or grids == {(1, 1, 1)}) and _configs_disagree(evidence)


AUTOTUNED_MATMUL = replace(
    MATMUL,
    name="autotuned_matmul",
    lesson="autotuning",
    title="A matrix product that tunes itself",
    hints=(
        "The kernel of the matmul lesson has three numbers that you chose by feeling. Which of "
        "them may differ between a small and a large matrix?",
        "List a few `triton.Config`s with different BLOCK_M, BLOCK_N, BLOCK_K, num_warps and "
        "num_stages; the key names the arguments whose change calls for a new choice: M, N, K. "
        "The grid must be computed from the configuration that is being tried.",
        "`@triton.autotune(configs=[...], key=['M', 'N', 'K'])` above `@triton.jit`, and "
        "`grid = lambda meta: (triton.cdiv(M, meta['BLOCK_M']), triton.cdiv(N, "
        "meta['BLOCK_N']))`; no block sizes at the launch.",
    ),
    challenge="Leave the key empty and check again: the values stay right, so what is lost?",
    misconceptions=(
        Misconception(
            code="tuning-runs-add-up",
            title="The runs of the tuner add up in the output",
            message=(
                "The kernel adds to what is already in the output. The tuner launches it many "
                "times, once and more for each configuration, on the same memory: the result is "
                "a multiple of the right one, or starts from memory that nobody has cleared."
            ),
            next_step=(
                "Overwrite the output instead of adding to it; where the kernel must add, tell "
                "the tuner: `reset_to_zero=['c_ptr']` (or `restore_value`)."
            ),
            detector=_added_up,
        ),
        Misconception(
            code="reset-only-while-tuning",
            title="The output is cleared only while the tuner measures",
            message=(
                "The kernel adds to an output that starts as torch.empty. `reset_to_zero` clears "
                "it before each run of the *search*; once the choice for a key is known nothing "
                "clears it any more, and the sums start from whatever was in memory. The first "
                "call of a shape is right, the second is not."
            ),
            next_step="Allocate the output with `torch.zeros`; `reset_to_zero` is still needed.",
            detector=_starts_from_nothing,
        ),
        Misconception(
            code="grid-ignores-config",
            title="The grid does not fit every configuration",
            message=(
                "Every configuration was launched on the same grid, whatever its blocks: the "
                "grid is computed from a fixed block size, and for at least one configuration "
                "tiles are missing, or there are more programs than tiles. Whether it shows "
                "depends on which configuration wins on the machine at hand."
            ),
            next_step=(
                "Make the grid a function of the configuration: `lambda meta: (triton.cdiv(M, "
                "meta['BLOCK_M']), triton.cdiv(N, meta['BLOCK_N']))`."
            ),
            detector=_grid_is_fixed,
        ),
        Misconception(
            code="config-changes-result",
            title="The configurations do not compute the same",
            message=(
                "The grid follows the configuration, but with at least one of them the kernel "
                "leaves elements out or computes others. Some number in the kernel fits one "
                "configuration only: a block size that is written as a number, BLOCK_M where "
                "BLOCK_N belongs, a k loop that steps by a fixed width, a group that is cut "
                "wrongly at the end, a mask that whole tiles made unnecessary. Whether it shows "
                "depends on which configuration wins on the machine at hand."
            ),
            next_step=(
                "Run the kernel with that one configuration alone, and look at each place where "
                "a block size enters: offsets, loop bounds, masks, the grid's two axes."
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
                "It names the arguments that are tuned.",
                "The configurations name those. The key says when to tune *again*.",
            ),
            Choice(
                "It names the arguments whose new values call for a new search.",
                "Yes. For each new combination every configuration is timed once more.",
                right=True,
            ),
            Choice("It sorts the configurations.", "Their order plays no part in the search."),
        ),
    ),
    Question(
        "A kernel updates its output in place and is autotuned. What goes wrong?",
        (
            Choice(
                "Nothing, because only the last run counts.",
                "Each run starts from what the one before has left.",
            ),
            Choice(
                "Every timed run changes the data for the next one.",
                "Yes: use `restore_value` or `reset_to_zero`, or better a kernel that overwrites.",
                right=True,
            ),
        ),
    ),
    Question(
        "Which measurement must never choose a configuration?",
        (
            Choice(
                "The time in the interpreter.",
                "Yes. It says how long numpy takes on your CPU, not how long a GPU takes.",
                right=True,
            ),
            Choice(
                "The median time on the GPU that will run it.",
                "That is the very measurement that should.",
            ),
            Choice(
                "The registers and shared memory reported by the compiler.",
                "They cannot rank configurations, but rule out those that do not fit.",
            ),
        ),
    ),
)
