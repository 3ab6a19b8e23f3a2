"""The gate *traffic*: a kernel moves no more bytes than it should. See `running.traffic`."""

from __future__ import annotations

from graders.judge.gates.protocol import NOT_RUN, Context, GateResult
from graders.judge.running.traffic import traffic_gate


def run(context: Context) -> GateResult:
    """Compare the bytes of one case, which were counted while it was judged.

    Not run where those of the model solution are unknown.
    """
    cases = context.runtime.cases(context.exercise)
    found = traffic_gate(context.exercise, cases, context.facts.counted)
    return NOT_RUN if found is None else GateResult.of(*found)
