"""Ways to a right result that a contract rules out, seen in what the launcher asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graders.judge.plan.steps import (
    CasePlan,
    Launch,
    TensorRef,
    Tune,
    launches_of,
    ref_of,
    tensors_in,
)
from graders.judge.records import Promise

FEWEST_STAGES = 2  # below that nothing is loaded ahead
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
SMALL_BYTES = 99 * 1024  # of shared memory, on the smaller GPU
TILE = ("BLOCK_M", "BLOCK_N", "BLOCK_K")


# ---------------------------------------------------------------- one kernel


def one_kernel(what: str) -> Promise:
    """Return the promise that one kernel does it all; `what` is what it does."""
    return Promise(
        code="several-kernels",
        title="Several kernels share the work through memory",
        message=(
            f"But {what} was asked of one kernel. Here what one kernel stores the next one loads: "
            "all of it travels to memory and back in between, which is what a fused kernel saves."
        ),
        next_step=(
            "Keep the accumulator in registers: after the loop over k add the bias, apply the "
            "ReLU, and store once."
        ),
        broken=_handed_on,
    )


def _handed_on(cases: Sequence[CasePlan], _small: Sequence[CasePlan]) -> str | None:
    """The number of launches, where memory of the launcher's own passes from one to another."""
    for case in cases:
        steps = [step for step in case.steps if isinstance(step, Launch | Tune)]
        handed = [set(_own_memory(case, step)) for step in steps]
        for later in range(1, len(steps)):
            before = set().union(*handed[:later])
            places = {(kernel, place) for _, kernel, place in before}
            for storage, kernel, place in handed[later]:
                met = any(storage == known for known, *_ in before)
                if met and (kernel, place) not in places:
                    return f"There are {len(steps)} launches in one call."
    return None


def _own_memory(case: CasePlan, step: Launch | Tune) -> Iterator[tuple[int, int, str]]:
    """Storage, kernel and place among its arguments, of memory that is no input."""
    for launch in launches_of([step]):
        named = {**{str(i): v for i, v in enumerate(launch.positional)}, **launch.named}
        for place, value in named.items():
            for ref in tensors_in(value):
                if ref.storage not in case.inputs:
                    yield ref.storage, launch.kernel, place


# ---------------------------------------------------------------- tuning

SEVERAL_TRIED = Promise(
    code="nothing-tuned",
    title="Nothing was tuned",
    message=(
        "But the exercise is about a kernel that finds its block sizes by itself. On a GPU with "
        "room for all of them no two configurations were ever compared: there is only one, or "
        "all but one are ruled out before anything is measured."
    ),
    next_step=(
        "Give `@triton.autotune` several configurations, and let `keep_what_fits` return all that "
        "fit the GPU."
    ),
    broken=lambda cases, small: None if _most_tried(cases) > 1 else "",
)
KEY_FOLLOWS_SHAPE = Promise(
    code="key-missing",
    title="The choice is made once, for whatever shape comes first",
    message=(
        "But the key of the autotuner does not change with the shape of the matrices. The first "
        "call decides, and what is fastest for 64 rows is used for 8,192 as well."
    ),
    next_step=(
        "`key=['M', 'N', 'K']`; or coarser, with arguments that follow from them, such as M "
        "rounded up to a power of two."
    ),
    broken=lambda cases, small: None if _key_varies(cases) else "",
)
UNFIT_RULED_OUT = Promise(
    code="nothing-pruned",
    title="Configurations that cannot fit are kept",
    message=(
        "But `early_config_prune` keeps what has no room on the GPU. Triton then compiles each of "
        "them for every new key, only to see that it cannot start."
    ),
    next_step=(
        "Return those configurations for which `num_stages` tiles of a and b, "
        "`(BLOCK_M + BLOCK_N) * BLOCK_K` elements each time, fit into "
        "`shared_memory_per_block_optin`."
    ),
    broken=lambda cases, small: _kept_though_too_large(small),
)
TUNED = (SEVERAL_TRIED, KEY_FOLLOWS_SHAPE, UNFIT_RULED_OUT)


def _tunes(cases: Sequence[CasePlan]) -> Iterator[Tune]:
    for case in cases:
        yield from (step for step in case.steps if isinstance(step, Tune))


def _most_tried(cases: Sequence[CasePlan]) -> int:
    return max((len(step.trials) for step in _tunes(cases)), default=0)


def _key_varies(cases: Sequence[CasePlan]) -> bool:
    """Whether some tuner is asked to choose anew for another shape of the same dtype."""
    found: dict[tuple[int, tuple[str, ...]], set[str]] = {}
    for step in _tunes(cases):
        dtypes = tuple(ref.dtype for ref in _references(step))
        found.setdefault((step.tuner, dtypes), set()).add(step.key)
    return any(len(keys) > 1 for keys in found.values())


def _references(step: Tune) -> list[TensorRef]:
    return [ref for value in step.arguments.values() if (ref := ref_of(value)) is not None]


def _kept_though_too_large(cases: Sequence[CasePlan]) -> str | None:
    """The first configuration that was kept though a stage less would still be too large."""
    for step in _tunes(cases):
        sizes = [BYTES[ref.dtype] for ref in _references(step) if ref.dtype in BYTES]
        if not (step.prunes and sizes):
            continue
        for trial in step.trials:
            given = (trial.config.get(name) for name in (*TILE, "num_stages"))
            known = [value for value in given if type(value) is int]
            if len(known) != len(TILE) + 1:
                continue
            rows, columns, depth, stages = known
            needed = (stages - 1) * (rows + columns) * depth * min(sizes)
            if stages >= FEWEST_STAGES and needed > SMALL_BYTES:
                told = ", ".join(f"{n}: {v}" for n, v in trial.config.items() if v is not None)
                return (
                    f"On a GPU with {SMALL_BYTES:,} bytes of shared memory for a program this one "
                    f"was kept, which needs {needed:,} at least: {told}."
                )
    return None
