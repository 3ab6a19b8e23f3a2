"""The gate *traffic*: a kernel does not move too many bytes, and the contract's promises are kept.

See `running.traffic` and `running.requirements`.
"""

from __future__ import annotations

from graders.judge.gates.protocol import NOT_RUN, Context, GateResult
from graders.judge.running.requirements import broken_promises
from graders.judge.running.traffic import beside_model, traffic_gate


def run(context: Context) -> GateResult:
    """Compare the bytes of one case, which were counted while it was judged.

    Not run if those of the model solution are unknown and no promise is broken.
    """
    exercise, runtime = context.exercise, context.runtime
    cases, counted = runtime.cases(exercise), context.facts.counted
    context.facts.moved = beside_model(exercise, cases, counted)
    found = traffic_gate(exercise, cases, counted)
    broken = broken_promises(context.planned, exercise, context.submission, runtime.compiler())
    if found is None and not broken:
        return NOT_RUN
    findings, remarks = found or ([], [])
    return GateResult.of([*broken, *findings], remarks)
