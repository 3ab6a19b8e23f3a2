"""The gate *interpret*: every case is memory-safe, complete, free of races, and correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graders.judge.cases.prepared import Prepared, distinct
from graders.judge.compiling.gate import compile_gate
from graders.judge.diagnosis.explain import explain, finding
from graders.judge.diagnosis.facts import with_program
from graders.judge.gates import constructed, hidden
from graders.judge.gates.compile import differing
from graders.judge.gates.hidden import Parts
from graders.judge.gates.protocol import Context, Facts, GateResult
from graders.judge.running.interpret import RunResult, run_cases
from graders.judge.running.jobs import PlannedJobs
from graders.judge.running.pointing import pointing_of, with_rounds
from graders.judge.running.reached import Sides, remark
from graders.judge.running.traffic import traffic_case
from graders.judge.running.unseen import ran_in
from graders.judge.scoring import WASTEFUL_SHARE
from triton_util.report import Finding


def run(context: Context) -> GateResult:
    """Run all cases on the checked interpreter. Only correct results come with remarks."""
    exercise, runtime = context.exercise, context.runtime
    cases = runtime.cases(exercise)
    counted = traffic_case(cases)
    workers, planned = runtime.workers("cpu"), context.planned
    ran = run_cases(planned, cases, workers, orders=True, counted=counted)
    context.facts.counted = None if counted is None else ran.outcome_of(counted)
    context.facts.ran = ran_in(outcome for _, outcome in ran.outcomes)
    context.facts.largest = max((item.size for item in ran.passed), default=0)
    _count(context.facts, cases, ran)
    findings = _explained(context, planned, ran)
    sides = Sides()
    sides.add(planned.plan, (outcome for _, outcome in ran.outcomes))
    for more in constructed.runs(context, sides) if not ran.failures else ():
        ran = more.ran
        _count(context.facts, more.cases, ran)
        findings = _explained(context, more.planned, ran)
        if more.findings:
            findings += more.findings
            context.facts.failed_parts.add(more.part)
            context.facts.public_failed_parts.add(more.part)
    remarks = [*context.captured.remarks]
    if missing := sides.missing():
        remarks.append(remark(missing, planned.source))
    return GateResult.of(
        findings, () if findings else remarks, keeps=WASTEFUL_SHARE if ran.slow else None
    )


def _explained(context: Context, planned: PlannedJobs, ran: RunResult) -> list[Finding]:
    """The findings about the failures of a run; the first with a table of what programs touch."""
    exercise, workers, source = context.exercise, context.runtime.workers("cpu"), planned.source
    causes = explain(
        exercise, ran.seen(source), lambda: with_rounds(ran, planned, workers).seen(source)
    )
    findings = [finding("interpret", exercise, cause) for cause in causes]
    if causes:
        found = pointing_of(causes[0].failure.case.name, ran, planned, workers)
        if found is not None:
            shown = replace(causes[0], failure=found.failure)
            told = finding("interpret", exercise, shown, found.block)
            known = with_program(told.facts, found.table)
            findings[0] = replace(told, table=found.table, facts=known)
    return findings


def official(context: Context) -> GateResult:
    """Run the hidden cases. A forbidden launcher operation or a compile error fails all of them."""
    exercise, runtime = context.exercise, context.runtime
    cases = runtime.cases(exercise, hidden=True)
    every = {item.case.part for item in cases}

    def failed() -> Parts:
        if context.hidden.findings:
            return every, False
        compiled = compile_gate(
            context.submission,
            context.hidden,
            runtime.compiler(),
            exercise.least_capability,
            compiled=context.captured.plan,
        )
        if compiled.findings:
            slow = all(finding.code == "compile-timeout" for finding in compiled.findings)
            return (set(), True) if slow else (every, False)
        jobs, workers, largest = context.hidden_jobs, runtime.workers("cpu"), context.facts.largest
        ran = run_cases(jobs, cases, workers, orders=True, largest=largest)
        known = context.hidden.plan.kernels == context.captured.plan.kernels
        visited = {**(context.facts.visited if known else {}), **compiled.visited}
        arms = ran_in(outcome for _, outcome in ran.outcomes)
        if differing(context, context.hidden, arms, visited):
            return every, False
        more = constructed.run(context, hidden=True)
        if more is None:
            return _failed_parts(ran), ran.slow
        if more.findings:
            return every, False
        return _failed_parts(ran) | _failed_parts(more.ran), ran.slow or more.ran.slow

    return hidden.graded("interpret", context, failed, [item.case for item in distinct(cases)])


def _count(facts: Facts, cases: Sequence[Prepared], run: RunResult) -> None:
    """Count the cases that passed, and record the parts that failed."""
    passed = {id(item) for item in run.passed}
    total = len(distinct(cases))
    facts.cases_total += total
    facts.cases_passed += total - len(distinct([c for c in cases if id(c) not in passed]))
    facts.failed_parts |= _failed_parts(run)
    facts.public_failed_parts |= _failed_parts(run)


def _failed_parts(run: RunResult) -> set[str]:
    """The parts that failed.

    If a kernel's only fault is that large cases are too slow, a part counts as passed when one of
    its cases passed.
    """
    passed = {item.case.part for item in run.passed}
    return run.failed_parts() - passed if run.slow else run.failed_parts()
