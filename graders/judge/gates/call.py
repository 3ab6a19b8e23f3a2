"""The gate *call*: a plain function, which launches nothing, returns the correct numbers."""

from __future__ import annotations

from graders.judge.calling.calls import Conversation, call_all
from graders.judge.calling.explain import findings, holds
from graders.judge.gates import hidden
from graders.judge.gates.hidden import Parts
from graders.judge.gates.protocol import Context, GateResult
from graders.judge.records import Case, PlainFunction


def run(context: Context) -> GateResult:
    """Call the function for every case, and compare."""
    exercise, runtime = context.exercise, context.runtime
    function = exercise.function
    assert function is not None  # the pipeline asks this gate about no other exercises
    runtime.workers("cpu")  # raises without a sandbox: untrusted Python runs next
    calls = runtime.calls(exercise, context.submission.source)
    talk = call_all(context.submission, function, calls, runtime.compiler())
    failed = _failed(function, talk)
    context.facts.cases_total = len(talk.calls)
    context.facts.cases_passed = len(talk.calls) - len(failed)
    context.facts.failed_parts |= {case.part for case in failed}
    context.facts.public_failed_parts |= {case.part for case in failed}
    return GateResult.of(findings(exercise, function, talk))


def official(context: Context) -> GateResult:
    """Call the function for every hidden case, in a process of its own."""
    function, submission = context.exercise.function, context.submission
    assert function is not None
    calls = context.runtime.calls(context.exercise, submission.source, hidden=True)

    def failed() -> Parts:
        talk = call_all(submission, function, calls, context.runtime.compiler())
        return {case.part for case in _failed(function, talk)}, False

    return hidden.graded("call", context, failed, [call.case for call in calls])


def _failed(function: PlainFunction, talk: Conversation) -> list[Case]:
    """The cases that failed, including those that were never reached."""
    passed = {id(one.call) for one in talk.outcomes if holds(one, function)}
    return [call.case for call in talk.calls if id(call) not in passed]
