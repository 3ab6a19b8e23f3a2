"""A comparison of speeds in sentences and rows, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Sequence

from triton_util.bench.speed_comparison import MODEL, TORCH, Modelled, Runner, SpeedComparison
from triton_util.hardware import GPUS

NO_GPU = "There is no GPU here, so speed cannot be measured."
MODELLED = (
    "What follows is computed from bytes and operations and from data sheets. It says what no "
    "kernel can beat, and nothing about how fast a kernel is."
)
MODELLED_COLUMNS = ("GPU", "least time", "limited by", "operations per byte at the ridge")
COLUMNS = ("", "time", "95 % interval", "spread", "rate", "of the limit", "against torch")


def headline(found: SpeedComparison) -> str:
    """The result for the first contender of the run, in one sentence."""
    first = found.runners[0]
    if first.ms is None:
        return "could not be timed"
    if not first.believed:
        return "was timed, but the time is not believed"
    parts = [f"{found.percent(first.ms):.0f} % of the limit"]
    for label, word in ((MODEL, "of the model solution's speed"), (TORCH, "of torch's speed")):
        other = found.runner(label)
        if other is not None and other.ms is not None and other.label != first.label:
            parts.append(f"{other.ms / first.ms:.2f} {word}")
    return ", ".join(parts)


def limit(found: SpeedComparison) -> str:
    """Where the limit comes from: the GPU's rates and the least work."""
    gpu = found.gpu
    what = "moving its bytes" if found.limit.bound == "memory" else "its arithmetic"
    peak = gpu.peak_tflops(found.tensor_cores)
    whose = "as measured on it" if found.measured else "by its data sheet"
    return (
        f"The limit: {what} takes at least {found.limit.ms:.4f} ms on {gpu.name} "
        f"({gpu.gbytes_per_second:,.0f} GB/s, {peak:,.0f} TFLOP/s {whose}): {work(found)}."
    )


def work(found: SpeedComparison | Modelled) -> str:
    """The least work, in one phrase."""
    if not found.operations:
        return f"{found.n_bytes / 1e6:,.0f} MB to move, and nothing to compute"
    giga = found.operations / 1e9
    return (
        f"{found.n_bytes / 1e6:,.0f} MB, {giga:,.{0 if giga >= 10 else 3}f} GFLOP, "
        f"{found.intensity:,.{0 if found.intensity >= 100 else 3}f} operations per byte"
    )


def modelled_rows(found: Modelled) -> list[tuple[str, ...]]:
    """One row per GPU of the table, under `MODELLED_COLUMNS`."""
    told: list[tuple[str, ...]] = []
    for gpu in GPUS.values():
        limit = found.limit_on(gpu)
        ridge = gpu.ridge(found.uses_tensor_cores_of(gpu))
        bound = "memory" if limit.bound == "memory" else "arithmetic"
        told.append((gpu.name, f"{limit.ms:.3f} ms", bound, f"{ridge:.0f}"))
    return told


def rows(found: SpeedComparison) -> list[tuple[str, ...]]:
    """One row per contender, under `COLUMNS`."""
    torch = found.runner(TORCH)
    return [_row(found, runner, None if torch is None else torch.ms) for runner in found.runners]


def _row(found: SpeedComparison, runner: Runner, torch_ms: float | None) -> tuple[str, ...]:
    if runner.ms is None:
        return (runner.label, "not timed", *[""] * 5)
    against = f"{torch_ms / runner.ms:.2f} ×" if torch_ms else ""
    time = f"{runner.ms:.4f} ms"
    if not runner.believed:
        return (runner.label, f"{time}, not believed", *[""] * 5)
    return (
        runner.label,
        time,
        f"{runner.low:.4f} to {runner.high:.4f}",
        f"{runner.spread / runner.ms:.1%}",
        found.rate(runner.ms),
        f"{found.percent(runner.ms):.0f} %",
        against,
    )


def doubts(found: SpeedComparison) -> list[str]:
    """Why a time is missing or cannot be trusted, and what disturbed the run."""
    told = [f"{r.label}: {problem}" for r in found.runners for problem in r.problems]
    return [*told, *found.notes]


def method(found: SpeedComparison) -> str:
    """How the times were measured, in one line."""
    rounds = max((runner.rounds for runner in found.runners), default=0)
    details = "; ".join(part for part in (found.clocks, found.versions) if part)
    return (
        f"{found.workload}; medians of {rounds} rounds, all contenders in turn on new inputs, "
        f"L2 flushed, every output checked{f'; {details}' if details else ''}."
    )


def comparison_text(found: SpeedComparison) -> str:
    """The whole run as plain text."""
    lines = [f"{found.exercise}: {headline(found)}", "", *_aligned([COLUMNS, *rows(found)])]
    lines += [f"  note: {line}" for line in doubts(found)]
    lines += [f"  what may help: {remark}" for remark in found.remarks]
    return "\n".join([*lines, "", f"  {limit(found)}", f"  {method(found)}"])


def modelled_text(found: Modelled) -> str:
    """The limits on known GPUs as plain text."""
    about = f"{found.workload}: {work(found)}. {found.moved}".strip()
    table = _aligned([MODELLED_COLUMNS, *modelled_rows(found)])
    return "\n".join([f"{found.exercise}: {NO_GPU}", f"  {MODELLED}", f"  {about}", "", *table])


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return [
        "  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
