"""The gate *compile*: every kernel compiles, with no GPU needed.

For sm_80 and sm_90, as far as the exercise asks for no newer GPU.
"""

from __future__ import annotations

from graders.judge.compiling.gate import compile_gate
from graders.judge.gates.protocol import Context, GateResult
from graders.judge.scoring import WASTEFUL_SHARE


def run(context: Context) -> GateResult:
    """Compile what the launch plan launches."""
    runtime, least = context.runtime, context.exercise.least_capability
    second = runtime.second_compiler()
    found = compile_gate(context.submission, context.captured, runtime.compiler(), least, second)
    slow = all(finding.code == "compile-timeout" for finding in found.findings)
    keeps = WASTEFUL_SHARE if slow else None
    return GateResult.of(found.findings, resources=found.resources, keeps=keeps)
