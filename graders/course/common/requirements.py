"""Solutions with a correct result that a contract forbids, seen in the launcher's requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graders.judge.plan.requirements import CPU, Machine, Plans, Requirement
from graders.judge.plan.steps import (
    CasePlan,
    Launch,
    TensorRef,
    Tune,
    launches_of,
    ref_of,
    tensors_in,
)

FEWEST_STAGES = 2  # with fewer, nothing is loaded ahead
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
SMALL_BYTES, LARGE_BYTES = 99 * 1024, 163 * 1024  # of shared memory: the smaller GPU, an A100
SMALL, TINY = Machine(SMALL_BYTES), Machine(1024)
ONE_WARP = Machine(LARGE_BYTES, warps=1)
REGISTERS = 255  # of a thread
LANES, USUAL_WARPS = 32, 4
OF_THE_CONTRACT = "keep_what_fits"
TILE = ("BLOCK_M", "BLOCK_N", "BLOCK_K")


# ---------------------------------------------------------------- one kernel


def one_kernel(what: str) -> Requirement:
    """Return the requirement that one kernel does everything; `what` is what it does."""
    return Requirement(
        code="several-kernels",
        title="Several kernels share the work through memory",
        message=(
            f"But {what} was asked of one kernel. Here one kernel stores what the next one loads, "
            "so all of it travels to memory and back. A fused kernel saves that."
        ),
        next_step=(
            "Keep the accumulator in registers: after the loop over k add the bias, apply the "
            "ReLU, and store once."
        ),
        broken=_handed_on,
    )


def _handed_on(plans: Plans) -> str | None:
    """The number of launches, if memory allocated by the launcher passes from one to another."""
    for case in plans.a100:
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
    """Storage, kernel and argument position of each tensor that is not an input."""
    for launch in launches_of([step]):
        named = {**{str(i): v for i, v in enumerate(launch.positional)}, **launch.named}
        for place, value in named.items():
            for ref in tensors_in(value):
                if ref.storage not in case.inputs:
                    yield ref.storage, launch.kernel, place


BY_HAND = Requirement(
    code="swizzle-given",
    title="The order comes from tl.swizzle2d",
    message="But the exercise asks you to write the arithmetic that this function does.",
    next_step=(
        "Compute row and column from the number of the program: which group is it in, where does "
        "the group begin, and how many rows does the group have?"
    ),
    broken=lambda plans: "" if "swizzle2d" in plans.attributes else None,
)

# ---------------------------------------------------------------- tuning

SEVERAL_TRIED = Requirement(
    code="nothing-tuned",
    title="Nothing was tuned",
    message=(
        "But the exercise is about a kernel that chooses its block sizes itself. Even on a GPU "
        "with room for all configurations, no two were compared: there is only one, or all but "
        "one were pruned."
    ),
    next_step=(
        "Give `@triton.autotune` several configurations, and let `keep_what_fits` return all that "
        "fit on the GPU."
    ),
    broken=lambda plans: None if _most_tried(plans.a100) > 1 else "",
)
KEY_FOLLOWS_SHAPE = Requirement(
    code="key-missing",
    title="The first shape decides for all shapes",
    message=(
        "But the key of the autotuner does not change with the shape of the matrices. The first "
        "call decides: what is fastest for 64 rows is also used for 8,192 rows."
    ),
    next_step=(
        "Use `key=['M', 'N', 'K']`, or coarser arguments that follow from them, such as M rounded "
        "up to a power of two."
    ),
    broken=lambda plans: None if _key_varies(plans.a100) else "",
)
UNFIT_RULED_OUT = Requirement(
    code="nothing-pruned",
    title="Configurations that cannot fit are kept",
    message=(
        "But `early_config_prune` keeps configurations that need more shared memory than the GPU "
        "has. Triton then compiles each of them for every new key, only to find that it cannot "
        "start."
    ),
    next_step=(
        "Keep a configuration if `num_stages * (BLOCK_M + BLOCK_N) * BLOCK_K * a.element_size()` "
        "bytes fit into `shared_memory_per_block_optin`."
    ),
    broken=lambda plans: (
        _kept_though_too_large(plans.on(SMALL), SMALL_BYTES)
        or _kept_though_too_large(plans.a100, LARGE_BYTES)
        or _kept_though_too_large_for_newer(plans)
    ),
)
REGISTERS_LEFT = Requirement(
    code="registers-forgotten",
    title="A configuration is kept whose accumulator leaves no registers",
    message=(
        "But `early_config_prune` keeps a tile whose accumulator alone needs all registers of its "
        "threads. Triton then moves it to memory and back (it spills) in every step of the loop."
    ),
    next_step=(
        "A thread has 255 registers, and the accumulator needs `BLOCK_M * BLOCK_N / (32 * "
        "num_warps)` of them. Keep only what leaves half of them free."
    ),
    broken=lambda plans: (
        _kept_without_registers([*plans.a100, *plans.on(SMALL)])
        or _kept_without_registers(plans.on(ONE_WARP), OF_THE_CONTRACT)
    ),
)
FIRST_ALONE_ON_CPU = Requirement(
    code="tuned-on-cpu",
    title="On a CPU several configurations are left to choose from",
    message=(
        "But on a CPU `keep_what_fits` keeps more than one configuration. The autotuner then "
        "measures how fast Python interprets each of them, which says nothing about a GPU."
    ),
    next_step="Begin with `if named_args['a_ptr'].device.type != 'cuda': return configs[:1]`.",
    broken=lambda plans: _several_on_cpu(plans.on(CPU)),
)
FIRST_FITS = Requirement(
    code="first-too-large",
    title="The first configuration does not fit every GPU",
    message=(
        "But the first configuration is used where nothing is measured, so it must fit on every "
        "GPU. This one does not."
    ),
    next_step="Begin the list with a small tile: BLOCK_M, BLOCK_N and BLOCK_K 32, two stages.",
    broken=lambda plans: _kept_though_too_large(_firsts(plans.on(CPU)), SMALL_BYTES),
)
SOMETHING_KEPT = Requirement(
    code="nothing-kept",
    title="Where nothing fits, no configuration is left",
    message=(
        "But on a GPU with little shared memory `keep_what_fits` returns an empty list, and the "
        "autotuner stops with an error. Always return at least one configuration."
    ),
    next_step="End with `return kept or configs[:1]`.",
    broken=lambda plans: _none_kept(plans.a100, plans.on(TINY)),
)
TUNED = (
    *(SEVERAL_TRIED, KEY_FOLLOWS_SHAPE, UNFIT_RULED_OUT, REGISTERS_LEFT),
    *(FIRST_ALONE_ON_CPU, FIRST_FITS, SOMETHING_KEPT),
)


def _tunes(cases: Iterable[CasePlan]) -> Iterator[Tune]:
    for case in cases:
        yield from (step for step in case.steps if isinstance(step, Tune))


def _most_tried(cases: Sequence[CasePlan]) -> int:
    return max((len(step.trials) for step in _tunes(cases)), default=0)


def _key_varies(cases: Sequence[CasePlan]) -> bool:
    """Whether some tuner must choose again for another shape of the same dtype."""
    found: dict[tuple[int, tuple[str, ...]], set[str]] = {}
    for step in _tunes(cases):
        dtypes = tuple(ref.dtype for ref in _references(step))
        found.setdefault((step.tuner, dtypes), set()).add(step.key)
    return any(len(keys) > 1 for keys in found.values())


def _references(step: Tune) -> list[TensorRef]:
    return [ref for value in step.arguments.values() if (ref := ref_of(value)) is not None]


def _firsts(cases: Sequence[CasePlan]) -> Iterator[CasePlan]:
    """The cases in which the contract's function keeps only one configuration, the first."""
    for case in cases:
        kept = list(_tunes([case]))
        if kept and all(t.prunes == OF_THE_CONTRACT and len(t.trials) == 1 for t in kept):
            yield case


def _several_on_cpu(cases: Sequence[CasePlan]) -> str | None:
    """How many configurations the contract's function keeps for a CPU, if several."""
    for step in _tunes(cases):
        if step.prunes == OF_THE_CONTRACT and len(step.trials) > 1:
            return f"It kept {len(step.trials)} of {step.configs}."
    return None


def _none_kept(usual: Sequence[CasePlan], tiny: Sequence[CasePlan]) -> str | None:
    """Whether launches that are tuned on an A100 raise an error if no configuration fits."""
    pairs = zip(usual, tiny, strict=False)
    stopped = (
        few.raised is not None and full.raised is None
        for full, few in pairs
        if any(step.prunes for step in _tunes([full]))
    )
    return "" if any(stopped) else None


def _kept_without_registers(cases: Iterable[CasePlan], one_warp_by: str = "") -> str | None:
    """The first configuration kept by pruning whose accumulator needs too many registers.

    one_warp_by: the name of the function that was called, if each has one warp. A configuration
    that is kept alone is ignored: it may be the fallback for when none fits.
    """
    for step in _tunes(cases):
        asked = step.prunes == one_warp_by if one_warp_by else bool(step.prunes)
        for trial in step.trials if asked and len(step.trials) > 1 else ():
            rows, columns = (trial.config.get(name) for name in TILE[:2])
            warps = trial.config.get("num_warps") or USUAL_WARPS
            if type(rows) is int and type(columns) is int and type(warps) is int:
                needed = rows * columns // (LANES * warps)
                if needed > REGISTERS:
                    told = f"BLOCK_M: {rows}, BLOCK_N: {columns}, num_warps: {warps}"
                    this = (
                        "Of your configurations, with one warp each, this"
                        if one_warp_by
                        else "This"
                    )
                    return f"{this} one was kept, whose accumulator needs {needed}: {told}."
    return None


def _kept_though_too_large_for_newer(plans: Plans) -> str | None:
    """The same as below on a GPU like an H100, where each stage takes memory.

    The GPU has one byte less than the largest configuration kept on an A100 needs.
    """
    kept = [
        stages * size
        for step in _tunes(plans.a100)
        for _, stages, size in _stages(step)
        if step.prunes == OF_THE_CONTRACT
    ]
    if not kept:
        return None
    room = max(kept) - 1
    return _kept_though_too_large(plans.on(Machine(room, major=9)), room, spared=0)


def _kept_though_too_large(cases: Iterable[CasePlan], room: int, spared: int = 1) -> str | None:
    """The first configuration that was kept although its stages, except `spared`, do not fit.

    With `spared` = 0 a configuration that is kept alone is ignored: it may be the fallback.
    """
    for step in _tunes(cases):
        if not step.prunes or (spared == 0 and len(step.trials) < 2):
            continue
        for config, stages, size in _stages(step):
            needed = (stages - spared) * size
            if stages >= FEWEST_STAGES and needed > room:
                told = ", ".join(f"{n}: {v}" for n, v in config.items() if v is not None)
                return (
                    f"On a GPU with {room:,} bytes of shared memory for a program this one "
                    f"was kept, which needs {needed:,} at least: {told}."
                )
    return None


def _stages(step: Tune) -> Iterator[tuple[Mapping[str, Any], int, int]]:
    """Each configuration that was kept, its number of stages, and the bytes of one stage."""
    sizes = [BYTES[ref.dtype] for ref in _references(step) if ref.dtype in BYTES]
    for trial in step.trials if sizes else ():
        given = (trial.config.get(name) for name in (*TILE, "num_stages"))
        known = [value for value in given if type(value) is int]
        if len(known) == len(TILE) + 1:
            rows, columns, depth, stages = known
            yield trial.config, stages, (rows + columns) * depth * min(sizes)
