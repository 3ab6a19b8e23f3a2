"""The gate *read*: the functions exist, and Triton kernels do the work that they should do."""

from __future__ import annotations

from graders.judge.gates.protocol import Context, GateResult


def run(context: Context) -> GateResult:
    """Report what the source shows or, if it shows nothing, what the called launcher does.

    The gate *call* calls a plain function.
    """
    found = list(context.submission.findings)
    if context.exercise.function is not None:
        return GateResult.of(found)
    return GateResult.of(found or context.captured.findings)
