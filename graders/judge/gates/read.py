"""The gate *read*: the functions are there, and all the work is done in Triton."""

from __future__ import annotations

from graders.judge.gates.protocol import Context, GateResult
from graders.judge.static.gate import read_gate


def run(context: Context) -> GateResult:
    """What the text shows; where it shows nothing, what the launcher does when it is called."""
    found = read_gate(context.submission, context.exercise)
    return GateResult.of(found or context.captured.findings)
