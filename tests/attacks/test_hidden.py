"""What is said about a hidden case cannot be used to learn its shape, its dtype or its values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from graders.judge.capture.gate import capture
from graders.judge.cases.prepared import prepare
from graders.judge.compiling.gate import compile_gate
from graders.judge.compiling.process import CompileWorker
from graders.judge.diagnosis.explain import explain
from graders.judge.records import Case, TensorSpec
from graders.judge.report import Finding
from graders.judge.running.interpret import run_cases
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.pool import Workers
from graders.judge.submission.loading import from_text
from tests.attacks import capturing
from tests.attacks.attack import HEAD, KERNEL, LAUNCH, launcher

SECRET_SIZE = 997
PUBLIC_SIZE = 64


@pytest.fixture(scope="module")
def worker() -> Iterator[CompileWorker]:
    with CompileWorker(cpu_seconds=5.0) as running:
        yield running


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as running:
        yield running


def case(size: int) -> Case:
    return Case(f"n={size}", (TensorSpec((size,)), TensorSpec((size,))))


def told(worker: CompileWorker, workers: Workers, source: str) -> list[Finding]:
    """All findings about one public case and one hidden one."""
    exercise = capturing.exercise()
    submission = from_text(source, exercise, "s.py")
    both = [case(PUBLIC_SIZE), case(SECRET_SIZE)]
    captured = capture(submission, exercise, both, 1, worker)
    found = [*captured.findings, *captured.remarks]
    if not captured.findings:
        compiled = compile_gate(submission, captured, worker)
        assert str(SECRET_SIZE) not in repr(compiled.resources)
        found += compiled.findings
    prepared = prepare(exercise, both[:1], hidden=False)
    prepared += prepare(exercise, both[1:], hidden=True, first=1)
    run = run_cases(PlannedJobs(source, captured), prepared, workers, orders=False)
    return found + explain(exercise, run.failures, "interpret")


IF_HIDDEN = f"if x.numel() != {PUBLIC_SIZE}:\n    "
KERNELS = "".join(
    KERNEL.replace("add_kernel", f"add_{n}").replace("x + y,", f"{call},")
    for n, call in ((SECRET_SIZE, "torch.add(x, y)"), (1000, "x + y"))
)
NOT_COMPILING = KERNEL.replace("add_kernel", "add_997").replace("x + y,", "tl.dot(x, y),")
LEAKS = {
    "a shape that is returned": IF_HIDDEN + "return torch.empty(7)",
    "a text that is raised": IF_HIDDEN + "raise ValueError(f'size {x.numel()}')",
    "a name of a type": IF_HIDDEN + "raise type(f'size_{x.numel()}', (Exception,), {})('')",
    "a value of another kind": IF_HIDDEN + "return type(f'size_{x.numel()}', (), {})()",
    "an operation": IF_HIDDEN + "x = x + y",
    "a method that is not there": IF_HIDDEN + "getattr(x, f'size_{x.numel()}')",
    "a check": IF_HIDDEN + "torch.isnan(x)",
    "a number of elements": IF_HIDDEN + "x = torch.tensor([1.0] * x.numel())",
    "a copy": IF_HIDDEN + "y.copy_(x)",
    "a loop without end": IF_HIDDEN + "while True: pass",
    "a kernel's name": IF_HIDDEN + "add_997[(1,)](x, y, x, 0, BLOCK_SIZE=16)",
    "what does not compile": IF_HIDDEN + "add_dot[(1,)](x, y, x, 0, BLOCK_SIZE=16)",
    "an access outside": IF_HIDDEN + "add_1000[(2,)](x, y, torch.empty_like(x), 2000,"
    " BLOCK_SIZE=1024)",
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_hidden_case_keeps_its_size(worker: CompileWorker, workers: Workers, leak: str) -> None:
    dot = NOT_COMPILING.replace("add_997", "add_dot")
    source = HEAD + KERNEL + KERNELS + dot + launcher(LEAKS[leak] + "\n" + LAUNCH)
    found = told(worker, workers, source)
    assert found, "nothing is said: the test shows nothing"
    for finding in found:
        said = repr(asdict(finding))
        assert str(SECRET_SIZE) not in said
        assert "size_" not in said
        assert finding.line is None, said
        assert finding.original == ""
        assert "float32" not in said


def test_the_same_in_a_public_case_has_a_line(worker: CompileWorker, workers: Workers) -> None:
    """Otherwise the test above would show nothing."""
    source = HEAD + KERNEL + launcher("x = x + y\n" + LAUNCH)
    assert told(worker, workers, source)[0].line is not None
