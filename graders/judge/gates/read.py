"""The gate *read*: the functions are there, and what a kernel should do is done in Triton."""

from __future__ import annotations

from graders.judge.gates.protocol import Context, GateResult
from graders.judge.static.gate import read_gate


def run(context: Context) -> GateResult:
    """What the text shows; where it shows nothing, what the launcher does when it is called.

    A plain function is called by the gate *call*.
    """
    found = read_gate(context.submission, context.exercise)
    if context.exercise.function is not None:
        return GateResult.of(found)
    return GateResult.of(found or context.captured.findings)
