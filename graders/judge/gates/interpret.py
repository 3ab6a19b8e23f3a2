"""The gate *interpret*: every case is memory-safe, complete, free of races, and right."""

from __future__ import annotations

from collections.abc import Sequence

from graders.judge.cases.prepared import Prepared, distinct
from graders.judge.diagnosis.explain import explain
from graders.judge.gates.protocol import Context, Facts, GateResult
from graders.judge.running.interpret import RunResult, run_cases


def run(context: Context) -> GateResult:
    """Run all cases on the checked interpreter. Remarks on the launcher come with right results."""
    exercise, runtime = context.exercise, context.runtime
    cases = runtime.cases(exercise)
    ran = run_cases(context.planned, cases, runtime.workers("cpu"), orders=True)
    _count(context.facts, cases, ran)
    passed = [(item.args, item.expectation) for item in ran.passed]
    findings = explain(exercise, ran.failures, "interpret", passed)
    return GateResult.of(findings, () if findings else context.captured.remarks)


def _count(facts: Facts, cases: Sequence[Prepared], run: RunResult) -> None:
    """A case that was not run counts as failed."""
    reached = {id(item) for item, _ in run.outcomes}
    missed = [item for item in cases if id(item) not in reached]
    passed = {id(item) for item in run.passed}
    facts.cases_total = len(distinct(cases))
    facts.cases_passed = facts.cases_total - len(
        distinct([item for item in cases if id(item) not in passed])
    )
    facts.failed_parts |= run.failed_parts() | {item.case.part for item in missed}
    facts.public_failed_parts |= run.failed_parts(public_only=True)
    facts.public_failed_parts |= {item.case.part for item in missed if not item.hidden}
