"""Launchers are run without values: no honest style is refused, whoever computes is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graders.judge import discovery
from graders.judge.compiling.process import CompileWorker
from graders.judge.launch_trace.gate import NO_GPU, Captured, capture
from graders.judge.records import Case, TensorSpec
from graders.judge.sandbox.pool import Job, Outcome
from graders.judge.submission.loading import from_text, load
from tests.judge.launch_trace.any_python import ENDS, FREE
from tests.judge.launch_trace.honest_styles import HEAD, HONEST
from tests.judge.launch_trace.notebook_styles import MORE
from tests.judge.launch_trace.refused import WRONG, launcher
from tests.support.capturing import VECTORS, captured, planned, read
from tests.support.exercise_records import an_exercise
from tests.support.paths import ROOT
from triton_util.report import Finding

CAPTURE = pytest.mark.drawn(
    "graders/judge/launch_trace", "graders/judge/static", "tests/judge/launch_trace"
)
PASSING = {
    **{name: HEAD + text for name, text in {**HONEST, **FREE}.items()},
    **{f"{name} (notebook)": text for name, text in MORE.items()},
}


def codes(findings: list[Finding] | tuple[Finding, ...]) -> list[str]:
    return [finding.code for finding in findings]


def test_enough_styles_and_tricks_are_tried() -> None:
    assert len(PASSING) >= 120
    assert len(WRONG) >= 80


@CAPTURE
@pytest.mark.parametrize("style", PASSING)
def test_honest_python_passes(style: str, worker: CompileWorker) -> None:
    submission = from_text(PASSING[style], VECTORS)
    assert submission.findings == ()
    found = captured(submission, worker)
    assert found.findings == ()
    assert found.ended == ""
    assert [case.raised for case in found.plan.cases] == [None] * len(VECTORS.cases)


@CAPTURE
@pytest.mark.parametrize("trick", WRONG)
def test_tricks_and_mistakes_are_named(trick: str, worker: CompileWorker) -> None:
    code, text = WRONG[trick]
    found = read(HEAD + text, worker)
    assert code in codes(found)
    for finding in found:
        assert finding.gate == "read"
        assert finding.title
        assert finding.message


@CAPTURE
@pytest.mark.parametrize("ending", ENDS)
def test_whatever_a_launcher_does_to_its_process_is_an_outcome(
    ending: str, worker: CompileWorker
) -> None:
    status, words, text = ENDS[ending]
    jobs, cases = planned(HEAD + text, worker)
    outcome = jobs.job(cases[0], "grid")
    assert isinstance(outcome, Outcome)
    assert outcome.status == status, outcome
    told = outcome.returned + (outcome.error.message if outcome.error else "")
    assert words in told
    assert "ValuelessTensor" not in told
    for item in cases[1:]:  # nothing is known of these
        behind = jobs.job(item, "grid")
        assert isinstance(behind, Outcome)
        assert behind.status in (status, "not-run")
    assert captured(HEAD + launcher(), worker).findings == ()  # the next one is untouched


def test_an_ending_in_one_case_leaves_those_before_it(worker: CompileWorker) -> None:
    late = launcher("if x.numel() == 100:", "    os._exit(0)", before="import os\n")
    jobs, cases = planned(HEAD + late, worker)
    first, second, third = (jobs.job(item, "grid") for item in cases)
    assert isinstance(first, Job)
    assert len(first.work.kernels) == 1
    assert [second.status, third.status] == ["exited", "not-run"]  # type: ignore[union-attr]


def test_what_was_seen_before_an_ending_is_told(worker: CompileWorker) -> None:
    late = launcher("z = x + y", "if x.numel() == 100:", "    os.abort()", before="import os\n")
    assert codes(read(HEAD + late, worker)) == ["torch-computes"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loop", "status"),
    [
        ("while True: pass", "timeout"),
        ("import time; time.sleep(600)", "asleep"),
        ("(10 ** 10 ** 9)", "timeout"),
    ],
)
def test_a_launcher_without_end(loop: str, status: str) -> None:
    with CompileWorker(cpu_seconds=1) as impatient:
        jobs, cases = planned(HEAD + launcher(loop), impatient)
        outcome = jobs.job(cases[0], "grid")
        assert isinstance(outcome, Outcome)
        assert outcome.status == status
        assert captured(HEAD + launcher(), impatient).findings == ()


def test_a_flood_of_output_is_stopped(worker: CompileWorker) -> None:
    flood = launcher("while True:", "    os.write(1, b'{' * 65536)", before="import os\n")
    assert captured(HEAD + flood, worker).ended == "out-of-memory"
    assert captured(HEAD + launcher(), worker).findings == ()


@pytest.mark.parametrize(
    "line",
    [b"[1]", b'{"end": 5}', b'{"case": 5}', b'{"kernels": {}}', b'{"told": [5]}', b"\xff", b"null"],
)
def test_forged_lines_are_no_plan(line: bytes, worker: CompileWorker) -> None:
    forged = launcher(f"os.write(1, {b'%s' % line!r} + bytes([10]))", before="import os\n")
    found = captured(HEAD + forged, worker)
    assert found.findings == () or codes(found.findings) == ["not-launchable"]


def test_the_line_is_that_of_the_mistake(worker: CompileWorker) -> None:
    text = HEAD + launcher("z = x + y")
    (finding,) = read(text, worker)
    assert finding.line is not None
    assert text.split("\n")[finding.line - 1].strip() == "z = x + y"
    assert "`add`" in finding.message


def test_in_a_hidden_case_an_error_fails_that_case_and_no_other(worker: CompileWorker) -> None:
    lines = ("if x.numel() > 100:", "    x.no_such_method()")
    submission = from_text(HEAD + launcher(*lines), VECTORS)
    shown, hidden = (
        capture(submission, VECTORS, VECTORS.cases, worker, hidden=flag).findings
        for flag in (False, True)
    )
    assert codes(shown) == ["no-such-method"]
    assert codes(hidden) == []


@pytest.mark.parametrize(
    "line", ["x = x.contiguous()", "x = x.to(torch.float64)", "x = x.clone()", "y = y.half()"]
)
def test_copies_are_refused_only_where_moving_is_the_exercise(
    line: str, worker: CompileWorker
) -> None:
    turned = TensorSpec((8, 8), view="transposed")
    free = an_exercise(cases=(Case("turned", (turned, turned)),))
    strict = replace(free, forbids=frozenset({"copies"}))
    assert read(HEAD + launcher(line), worker, free) == []
    assert codes(read(HEAD + launcher(line), worker, strict)) == ["torch-computes"]


def test_scalar_arguments_are_free_to_compute_with(worker: CompileWorker) -> None:
    exercise = an_exercise(cases=(Case("c", (TensorSpec((7,)), 3.0)),))
    text = HEAD + launcher("y = -y * 2 + 1", "y = x")
    assert read(text, worker, exercise) == []
    assert codes(read(text, worker)) == ["torch-computes"]


@pytest.mark.parametrize(
    "check",
    [
        "assert not torch.isnan(x).any()",
        "assert torch.isfinite(x).all().item() and not x.isinf().sum()",
        "if torch.isnan(x).any() or not torch.allclose(x, x):\n        raise ValueError",
    ],
)
def test_a_check_of_values_passes_with_a_remark(check: str, worker: CompileWorker) -> None:
    found = captured(HEAD + launcher(check), worker)
    assert ok(found)
    assert codes(found.remarks) == ["checks-values"]
    assert "is" in found.remarks[0].message


@pytest.mark.parametrize(
    ("allocation", "told"),
    [
        ("torch.empty(x.shape, dtype=x.dtype)", ["tensor-on-cpu"]),
        ('torch.zeros(x.shape, dtype=x.dtype, device="cpu")', ["tensor-on-cpu"]),
        ("torch.empty(x.shape, dtype=x.dtype, device=x.device)", []),
        ("torch.empty(x.shape, dtype=x.dtype).to(x.device)", []),
        ("torch.empty(x.shape, dtype=x.dtype).cuda()", []),
        ("x.new_empty(x.shape)", []),
    ],
)
def test_a_tensor_in_the_memory_of_the_cpu_cannot_be_launched_with(
    allocation: str, told: list[str], worker: CompileWorker
) -> None:
    text = HEAD + launcher().replace("torch.empty_like(x)", allocation)
    assert codes(read(text, worker)) == told


def test_one_mistake_is_told_once(worker: CompileWorker) -> None:
    text = HEAD + launcher("z = (x + y) * (x - y) + torch.exp(x)")
    assert codes(read(text, worker)) == ["torch-computes"]


def test_done_with_an_empty_input_is_not_launching_nothing(worker: CompileWorker) -> None:
    sizes = (TensorSpec((5,)),) * 2, (TensorSpec((0,)),) * 2
    exercise = an_exercise(cases=tuple(Case(str(n), args) for n, args in enumerate(sizes)))
    early = "if x.numel() == 0:\n        return torch.empty_like(x)"
    assert codes(read(HEAD + launcher(early, "n = int(x[0])"), worker, exercise)) == [
        "reads-values"
    ]
    nothing = f"{HEAD}{launcher('if x.numel():', '    return torch.empty_like(x)')}"
    assert codes(read(nothing, worker, exercise)) == ["no-kernel"]


def test_nothing_stays_for_the_next_submission(worker: CompileWorker) -> None:
    patching = launcher(
        "torch.empty_like = None", "builtins.left = 1", "tl.load = None", before="import builtins\n"
    )
    captured(HEAD + patching, worker)
    checking = launcher("assert not hasattr(builtins, 'left')", before="import builtins\n")
    found = captured(HEAD + checking, worker)
    assert ok(found)


def ok(found: Captured) -> bool:
    return not found.findings and all(case.raised is None for case in found.plan.cases)


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted((ROOT / "tests/course").glob("*/*/correct/textbook.py"))
        if path.parent.parent.name in discovery.of_kernels()
    ],
    ids=lambda path: path.parent.parent.name,
)
def test_textbook_kernels_pass(path: Path, worker: CompileWorker) -> None:
    exercise = discovery.exercise(path.parent.parent.name)
    submission = load(path, exercise)
    assert submission.findings == ()
    assert ok(captured(submission, worker, exercise))


def test_a_launcher_may_be_told_that_there_is_no_gpu(worker: CompileWorker) -> None:
    text = launcher(
        "n = (x.device.type, x.is_cuda, x.is_cpu, torch.cuda.is_available())",
        "if n == ('cpu', False, True, False):",
        "    raise ValueError('on a CPU')",
    )
    submission = from_text(HEAD + text, VECTORS)
    for gpu, raised in ((None, []), (NO_GPU, ["on a CPU"])):
        found = capture(submission, VECTORS, VECTORS.cases[:1], worker, gpu)
        assert [case.raised.text for case in found.plan.cases if case.raised] == raised
