"""The gate *call*: a plain function, which launches nothing, returns the right numbers."""

from __future__ import annotations

from graders.judge.calling.calls import Conversation, call_all
from graders.judge.calling.explain import findings, holds
from graders.judge.gates.protocol import Context, Facts, GateResult
from graders.judge.records import PlainFunction


def run(context: Context) -> GateResult:
    """Call it for every case, and compare."""
    exercise, runtime = context.exercise, context.runtime
    function = exercise.function
    assert function is not None  # the pipeline asks this gate about no other exercise
    runtime.workers("cpu")  # raises without a sandbox: a stranger's Python runs next
    calls = runtime.calls(exercise, context.submission.source)
    talk = call_all(context.submission, function, calls, runtime.compiler())
    _count(context.facts, function, talk)
    return GateResult.of(findings(exercise, function, talk))


def _count(facts: Facts, function: PlainFunction, talk: Conversation) -> None:
    """A case to which it did not come counts as failed."""
    passed = {id(one.call) for one in talk.outcomes if holds(one, function)}
    failed = [call for call in talk.calls if id(call) not in passed]
    facts.cases_total, facts.cases_passed = len(talk.calls), len(passed)
    facts.failed_parts |= {call.case.part for call in failed}
    facts.public_failed_parts |= {call.case.part for call in failed if not call.hidden}
