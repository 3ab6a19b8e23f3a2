"""The gate *traffic*: a kernel moves no more bytes than it should. See `running.traffic`."""

from __future__ import annotations

from graders.judge.gates.protocol import NOT_RUN, Context, GateResult
from graders.judge.running.traffic import traffic_gate


def run(context: Context) -> GateResult:
    """Count the bytes of one case; not run where those of the model solution are unknown."""
    exercise, runtime = context.exercise, context.runtime
    found = traffic_gate(context.planned, exercise, runtime.cases(exercise), runtime.workers("cpu"))
    return NOT_RUN if found is None else GateResult.of(*found)
