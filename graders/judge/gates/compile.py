"""The gate *compile*: every kernel compiles for sm_80 and sm_90, with no GPU needed."""

from __future__ import annotations

from graders.judge.compiling.gate import compile_gate
from graders.judge.gates.protocol import Context, GateResult
from graders.judge.scoring import WASTEFUL_SHARE


def run(context: Context) -> GateResult:
    """Compile what the launch plan launches."""
    found = compile_gate(context.submission, context.captured, context.runtime.compiler())
    slow = all(finding.code == "compile-timeout" for finding in found.findings)
    keeps = WASTEFUL_SHARE if slow else None
    return GateResult.of(found.findings, resources=found.resources, keeps=keeps)
