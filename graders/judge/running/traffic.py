"""The *traffic* gate: bytes moved, against the model solution's on the same case.

Learners never receive the model solution, only its figures, in `course/generated/traffic.json`,
which `tilewise build --traffic` writes. On a CPU, traffic replaces speed: a kernel that reads its
input a hundred times is slow on every GPU. The factor is wide (8, or what the exercise declares),
so that only waste fails and another tiling does not.

The same run shows whether a correct submission does what its exercise is about: see `Remark`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from graders.judge.cases.prepared import Prepared
from graders.judge.records import Exercise, GraderError, LaunchFacts, Remark
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.pool import Job, Outcome, Workers
from triton_util.report import BytesMoved, Finding

FIGURES = Path(__file__).parents[2] / "course" / "generated" / "traffic.json"
DEFAULT_FACTOR = 8.0


@dataclass(frozen=True)
class Moved:
    """Bytes of one run, over all launches; `rereads` by argument name, for loads."""

    total: int
    rereads: Mapping[str, float]
    launches: tuple[LaunchFacts, ...] = ()
    figures: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def worst(self, where: str = "") -> str:
        """Name the argument that is read most often, in words; '' if none is read twice.

        where: the start of the sentence, which names the case.
        """
        name, factor = max(self.rereads.items(), key=lambda item: item[1], default=("", 0.0))
        return f"{where}`{name}` is read {factor:.0f} times over. " if factor >= 2 else ""


def traffic_case(prepared: Sequence[Prepared]) -> Prepared | None:
    """The largest core case: the one on which bytes are counted."""
    core = [p for p in prepared if p.case.part == "core" and p.size]
    return max(core, key=lambda p: p.size, default=None)


def measure(planned: PlannedJobs, item: Prepared, workers: Workers) -> Moved | None:
    """The bytes that a submission moves on a case; None if the run does not finish."""
    job = planned.job(item, "grid", traffic=True)
    return moved_in(workers.run([job])[0] if isinstance(job, Job) else job)


def moved_in(outcome: Outcome) -> Moved | None:
    """The bytes counted while a case ran; None if it did not finish."""
    if outcome.status != "returned":
        return None
    by_name = outcome.traffic or {}
    total, rereads = 0, {}
    for name, figures in by_name.items():
        total += sum(figures[key] for key in ("loaded", "stored", "atomic"))
        distinct = figures["distinct_loaded"]
        rereads[name] = figures["loaded"] / distinct if distinct else 0.0
    return Moved(total, rereads, outcome.launches, by_name)


@cache
def solution_figures() -> Mapping[str, Mapping[str, int]]:
    """Exercise → case name → bytes that the model solution moves."""
    try:
        figures: Mapping[str, Mapping[str, int]] = json.loads(FIGURES.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise GraderError(
            f"{FIGURES.name} cannot be read ({error}): run `tilewise build --traffic`"
        ) from None
    return figures


def traffic_gate(
    exercise: Exercise, prepared: Sequence[Prepared], outcome: Outcome | None
) -> tuple[list[Finding], list[Finding]] | None:
    """At most one finding, and the remarks; None if there is nothing to compare with.

    `outcome` is that of the traffic case, with its bytes counted.
    """
    known = _model_figure(exercise, prepared)
    if known is None:
        return None
    item, model = known
    moved = None if outcome is None else moved_in(outcome)
    allowed = exercise.traffic_factor or DEFAULT_FACTOR
    if moved is None:
        return [], []
    if moved.total > allowed * model:
        return [_too_much(item, moved, model)], []
    applying = [r for r in exercise.remarks if r.applies(moved.launches, moved.figures)]
    broken, others = ([_told(r) for r in applying if r.promised is kind] for kind in (True, False))
    return broken[:1], others


def beside_model(
    exercise: Exercise, prepared: Sequence[Prepared], outcome: Outcome | None
) -> BytesMoved | None:
    """The bytes of both on the case where they are counted; None if one is unknown."""
    known = _model_figure(exercise, prepared)
    moved = None if outcome is None else moved_in(outcome)
    if known is None or moved is None:
        return None
    item, model = known
    return BytesMoved(item.case.name, moved.total, model)


def _told(remark: Remark) -> Finding:
    price = " That is worth half of the points." if remark.promised else ""
    message = remark.message + price
    return Finding("traffic", remark.code, remark.title, message, next_step=remark.next_step)


def compared(
    planned: PlannedJobs, exercise: Exercise, prepared: Sequence[Prepared], workers: Workers
) -> tuple[Moved, int] | None:
    """The bytes that a submission and the model solution move; None unless both are known."""
    known = _model_figure(exercise, prepared)
    moved = measure(planned, known[0], workers) if known else None
    return (moved, known[1]) if known and moved else None


def _model_figure(exercise: Exercise, prepared: Sequence[Prepared]) -> tuple[Prepared, int] | None:
    """The case on which bytes are counted, and the model solution's bytes."""
    item = traffic_case(prepared)
    model = solution_figures().get(exercise.name, {}).get(item.case.name, 0) if item else 0
    return (item, model) if item and model else None


def _too_much(item: Prepared, moved: Moved, model: int) -> Finding:
    return Finding(
        gate="traffic",
        code="too-much-traffic",
        title="The kernel moves far more bytes than it needs to",
        message=(
            f"The result is correct. But the kernel loads and stores {_bytes(moved.total)} where "
            f"the model solution moves {_bytes(model)}, {moved.total / model:.2g} times as much. "
            f"{moved.worst()}Moving bytes is what a GPU spends most of its time on, so this is "
            "worth half of the points."
        ),
        case=item.case.name,
        next_step=(
            "Let each program load only the block that it needs, and keep intermediate values in "
            "registers, not in a tensor."
        ),
    )


def _bytes(count: int) -> str:
    size, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}"
