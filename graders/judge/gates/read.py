"""The gate *read*: the functions exist, and Triton kernels do the work that they should do."""

from __future__ import annotations

from graders.judge.gates.protocol import Context, GateResult
from graders.judge.static.gate import read_gate


def run(context: Context) -> GateResult:
    """Report what the source shows or, if it shows nothing, what the called launcher does.

    The gate *call* calls a plain function.
    """
    found = read_gate(context.submission, context.exercise)
    if context.exercise.function is not None:
        return GateResult.of(found)
    return GateResult.of(found or context.captured.findings)
