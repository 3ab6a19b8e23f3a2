"""The gate *interpret*: every case is memory-safe, complete, free of races, and correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graders.judge.cases.prepared import Prepared, distinct
from graders.judge.compiling.gate import compile_gate
from graders.judge.diagnosis import handed_strides
from graders.judge.diagnosis.ast_patterns import masked_like_a_store
from graders.judge.diagnosis.explain import (
    MASK_MISSING,
    MAX_FINDINGS,
    UNEXPLAINED,
    explain,
    explain_tf32,
    relabel,
    seen_in,
)
from graders.judge.diagnosis.facts import with_program
from graders.judge.diagnosis.generic import FAULTS
from graders.judge.diagnosis.sizes import SeenCase, failing_sizes
from graders.judge.gates import constructed, hidden
from graders.judge.gates.compile import differing
from graders.judge.gates.hidden import Parts
from graders.judge.gates.protocol import Context, Facts, GateResult
from graders.judge.records import Exercise, LaunchFacts
from graders.judge.report import Finding
from graders.judge.running.interpret import RunResult, run_cases
from graders.judge.running.pointing import pointing_of, with_rounds
from graders.judge.running.traffic import traffic_case
from graders.judge.running.unseen import ran_in
from graders.judge.scoring import WASTEFUL_SHARE

ADDRESS_OUTSIDE = "address-outside"
LEAST_BLOCK = 8  # elements: a size that it does not divide is not a multiple of any usual block


def run(context: Context) -> GateResult:
    """Run all cases on the checked interpreter. Only correct results come with launcher remarks."""
    exercise, runtime = context.exercise, context.runtime
    cases = runtime.cases(exercise)
    counted = traffic_case(cases)
    workers, planned = runtime.workers("cpu"), context.planned
    ran = run_cases(planned, cases, workers, orders=True, counted=counted)
    context.facts.counted = None if counted is None else ran.outcome_of(counted)
    context.facts.ran = ran_in(outcome for _, outcome in ran.outcomes)
    context.facts.largest = max((item.size for item in ran.passed), default=0)
    _count(context.facts, cases, ran)
    findings = _explained(exercise, ran)
    if not findings and (more := constructed.run(context)) is not None:
        ran, planned = more.ran, more.planned
        _count(context.facts, more.cases, ran)
        findings = _explained(exercise, ran) or [*more.findings]
        if more.findings:
            context.facts.failed_parts.add(more.part)
            context.facts.public_failed_parts.add(more.part)
    if findings:
        if findings[0].code == MASK_MISSING and _mask_is_right(findings[0], context, ran):
            findings[0] = relabel(findings[0], ADDRESS_OUTSIDE, FAULTS[ADDRESS_OUTSIDE])
        if findings[0].code in UNEXPLAINED:
            findings = _explained(exercise, with_rounds(ran, planned, workers))
        if findings[0].code in UNEXPLAINED | handed_strides.SYMPTOMS:
            findings = _by_all_cases(findings, exercise, ran)
        found = pointing_of(findings[0].case, ran, planned, workers)
        if found is not None:
            told = seen_in(findings[0], exercise, found.failure, found.block)
            known = with_program(told.facts, found.table)
            findings[0] = replace(told, table=found.table, facts=known)
    remarks = () if findings else context.captured.remarks
    return GateResult.of(findings, remarks, keeps=WASTEFUL_SHARE if ran.slow else None)


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


def _explained(exercise: Exercise, ran: RunResult) -> list[Finding]:
    """Explain the failures, TF32 last because it would hide the other mistakes."""
    passed = [(item.args, item.expectation) for item in ran.passed]
    others = [failure for failure in ran.failures if all(failure is not f for f in ran.of_tf32)]
    findings = explain(exercise, others, "interpret", passed)
    return [*findings, *explain_tf32(exercise, ran.of_tf32, "interpret")][:MAX_FINDINGS]


def _mask_is_right(finding: Finding, context: Context, ran: RunResult) -> bool:
    """Whether the load has the mask of a store that is correct although no size fits a block."""
    shapes = (item.expectation.values.shape for item in ran.passed)
    ragged = any(shape and all(size % LEAST_BLOCK for size in shape) for shape in shapes)
    return ragged and masked_like_a_store(context.submission.source, finding.line)


def _by_all_cases(findings: list[Finding], exercise: Exercise, ran: RunResult) -> list[Finding]:
    """Relabel the first finding by the feature that separates failing from passing cases.

    The feature is a stride, or a size if nothing else is known.
    """
    failed = {id(failure.expectation) for failure in ran.failures}
    wrong = {item.case.name for item, _ in ran.outcomes if id(item.expectation) in failed}
    by_name: dict[str, SeenCase] = {}
    for item, outcome in ran.outcomes:
        launches, name = outcome.launches, item.case.name
        given = launches[-1].given if launches else {}
        by_name[name] = SeenCase(item.args, _constants(launches), name in wrong, given)
    seen = list(by_name.values())
    told = handed_strides.stride_of_another(seen, exercise.parameters)
    if told is None and findings[0].code in UNEXPLAINED:
        told = failing_sizes(seen, exercise.parameters)
    return findings if told is None else [relabel(findings[0], *told), *findings[1:]]


def _constants(launches: Sequence[LaunchFacts]) -> dict[str, int]:
    """The whole numbers among the constants of all launches, the last launch's first."""
    found: dict[str, int] = {}
    for launch in reversed(launches):
        for name, value in launch.meta.items():
            if type(value) is int:
                found.setdefault(name, value)
    return found


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
