"""The gate *compile*: every kernel compiles, with no GPU needed.

It compiles for sm_80 and sm_90, unless the exercise asks for a newer GPU.
"""

from __future__ import annotations

from graders.judge.compiling.gate import compile_gate
from graders.judge.gates.protocol import Context, GateResult
from graders.judge.launch_trace.gate import Captured
from graders.judge.running.unseen import Arms, unseen
from graders.judge.scoring import WASTEFUL_SHARE
from triton_util.report import Finding


def run(context: Context) -> GateResult:
    """Compile the launches of the launch plan."""
    runtime, least = context.runtime, context.exercise.least_capability
    second = runtime.second_compiler()
    found = compile_gate(context.submission, context.captured, runtime.compiler(), least, second)
    slow = all(finding.code == "compile-timeout" for finding in found.findings)
    keeps = WASTEFUL_SHARE if slow else None
    return GateResult.of(
        found.findings, resources=found.resources, keeps=keeps, visited=found.visited
    )


def compared(context: Context, again: bool) -> GateResult:
    """Compare what ran with what was compiled: it must be the same program.

    `again` as in `differing`.
    """
    facts = context.facts
    found = differing(context, context.captured, facts.ran, facts.visited, again)
    return GateResult.of(found, keeps=0.0 if found else None)


def differing(
    context: Context, captured: Captured, ran: Arms | None, visited: Arms, again: bool = True
) -> list[Finding]:
    """The findings for code that ran in these cases and was not compiled.

    `again`: compile the launches that were left out before because there were too many.
    """
    left_out = frozenset(ran or ()) - visited.keys()
    if left_out and again:
        runtime, least = context.runtime, context.exercise.least_capability
        more = compile_gate(context.submission, captured, runtime.compiler(), least, only=left_out)
        if more.findings:
            return more.findings
        visited = {**visited, **more.visited}
    return unseen(captured.plan, ran, visited)
