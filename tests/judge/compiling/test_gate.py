"""The gate *compile*: real compiling for sm_80 and sm_90 on a machine without a GPU."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from graders.judge.compiling import gate
from graders.judge.compiling.findings import compile_finding
from graders.judge.compiling.gate import (
    SHARED_LIMITS,
    CompileResult,
    CompileWorker,
    _launches,
    compile_gate,
)
from graders.judge.compiling.process import Answer
from graders.judge.records import Case, GraderError, TensorSpec
from graders.judge.sandbox import starting
from tests.judge.compiling.compile_errors import BEFORE, ERRORS, PREAMBLE, STORE
from tests.support.capturing import captured
from tests.support.exercise_records import an_exercise
from tests.support.submissions import submission
from triton_util.explain.assembler import read_report

COMPILED = pytest.mark.drawn("graders/judge/compiling", "tests/judge/compiling")
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
VECTOR = an_exercise("run", ("x",))
LAUNCHER = """
def run(x):
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK_SIZE=64)
    return out
"""
MATMUL = """
@triton.jit
def mm(a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, BM)[:, None]
    n = tl.arange(0, BN)[None, :]
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m * K + k[None, :] + start)
        b = tl.load(b_ptr + (k[:, None] + start) * BN + n)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m * BN + n, total)

def run(x):
    out = torch.empty((512, 512), dtype=torch.float32)
    mm[(1,)](x, x, out, x.shape[0], {options})
    return out
"""


@pytest.fixture(scope="module")
def worker() -> Iterator[CompileWorker]:
    with CompileWorker(cpu_seconds=20) as warm:
        yield warm


def kernel(body: str, before: str = "") -> str:
    lines = textwrap.indent("\n".join([PREAMBLE, body, STORE]), "    ")
    signature = "def kernel(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):"
    return f"{HEAD}{before}@triton.jit\n{signature}\n{lines}\n{LAUNCHER}"


def compiled(source: str, worker: CompileWorker, exercise=VECTOR) -> CompileResult:
    found = submission(source, "run", "<test>")
    return compile_gate(found, captured(found, worker, exercise), worker)


def test_a_sound_kernel_compiles_for_both_targets(worker: CompileWorker) -> None:
    result = compiled(kernel("x = x * 2"), worker)
    assert result.findings == []
    assert {item.target for item in result.resources} == {80, 90}
    for item in result.resources:
        assert item.kernel == "kernel"
        assert 8 <= item.registers <= 64
        assert item.shared_bytes == 0
        assert item.spill_bytes == 0


@pytest.fixture(scope="module")
def second() -> Iterator[CompileWorker]:
    with CompileWorker(cpu_seconds=20) as warm:
        yield warm


SHARED = {
    **{name: kernel(body, BEFORE.get(name, "")) for name, (_, body) in ERRORS.items()},
    "right": kernel("x = x * 12"),
    "newer": kernel("x = x.to(tl.float8e4nv).to(tl.float32)"),
    "product": HEAD
    + "@triton.jit"
    + MATMUL.replace("@triton.jit", "").replace("{options}", "BM=64, BN=64, BK=32"),
    "too-large": HEAD
    + "@triton.jit"
    + MATMUL.replace("@triton.jit", "").replace(
        "{options}", "BM=256, BN=256, BK=128, num_stages=4"
    ),
}


@COMPILED
@pytest.mark.parametrize("name", SHARED)
def test_two_processes_find_what_one_finds(
    name: str, worker: CompileWorker, second: CompileWorker
) -> None:
    found = submission(SHARED[name], "run", "<test>")
    plan = captured(found, worker, VECTOR)
    shared = compile_gate(found, plan, second, second=worker)
    assert shared == compile_gate(found, plan, worker)


def test_what_needs_a_newer_gpu_is_compiled_for_newer_targets_alone(worker: CompileWorker) -> None:
    """sm_80 has no e4m3: "type fp8e4nv not supported in this architecture"."""
    found = submission(kernel("x = x.to(tl.float8e4nv).to(tl.float32)"), "run", "<test>")
    plan = captured(found, worker, VECTOR)
    refused = compile_gate(found, plan, worker).findings[0]
    assert "fp8e4nv not supported" in refused.original
    result = compile_gate(found, plan, worker, least_capability=89)
    assert result.findings == []
    assert {item.target for item in result.resources} == {90}


@COMPILED
@pytest.mark.parametrize("name", ERRORS)
def test_errors_in_a_tutors_words(name: str, worker: CompileWorker) -> None:
    words, body = ERRORS[name]
    source = kernel(body, BEFORE.get(name, ""))
    finding = compiled(source, worker).findings[0]
    faulty = [n for n, line in enumerate(source.split("\n"), 1) if "# here" in line]
    assert words in finding.message
    assert finding.line == faulty[0]
    assert (finding.gate, finding.code) == ("compile", "compile-error")
    assert finding.next_step
    assert finding.original
    said = [line.strip() for line in finding.original.splitlines() if len(line.strip()) > 20]
    assert len(said) == len(set(said)), finding.original


def test_an_argument_that_is_one_is_compiled_as_a_constant(worker: CompileWorker) -> None:
    """The interpreter does not show it: on a GPU, n == 1 is a constant without `.to`."""
    source = kernel("x = x + n.to(tl.float32)")
    one = an_exercise("run", ("x",), cases=(Case("one", (TensorSpec((1,)),)),))
    finding = compiled(source, worker, one).findings[0]
    assert "constant" in finding.message
    many = an_exercise("run", ("x",), cases=(Case("many", (TensorSpec((9,)),)),))
    assert compiled(source, worker, many).findings == []


def test_every_dtype_of_the_cases_is_compiled(worker: CompileWorker) -> None:
    source = kernel("x = x & 1")
    specs = [TensorSpec((9,), dtype) for dtype in (torch.int32, torch.float32)]
    whole, mixed = (
        an_exercise("run", ("x",), cases=tuple(Case(str(s.dtype), (s,)) for s in some))
        for some in (specs[:1], specs)
    )
    assert compiled(source, worker, whole).findings == []
    assert compiled(source, worker, mixed).findings[0].code == "compile-error"


def test_shared_memory_is_compared_with_each_target(worker: CompileWorker) -> None:
    square = an_exercise("run", ("x",), cases=(Case("c", (TensorSpec((256, 256), torch.half),)),))
    huge = MATMUL.format(options="BM=64, BN=64, BK=128, num_stages=9")
    findings = compiled(HEAD + huge, worker, square).findings
    assert [finding.code for finding in findings] == ["shared-memory-too-large"] * 2
    for finding, (target, limit) in zip(findings, SHARED_LIMITS.items(), strict=True):
        assert f"sm_{target}" in finding.message
        assert f"{limit:,}" in finding.message
        assert "mm" in finding.message
    between = MATMUL.format(options="BM=64, BN=64, BK=128, num_stages=7")
    (finding,) = compiled(HEAD + between, worker, square).findings
    assert "sm_80" in finding.message
    small = MATMUL.format(options="BM=32, BN=32, BK=32, num_stages=2")
    result = compiled(HEAD + small, worker, square)
    assert result.findings == []
    assert all(item.shared_bytes > 0 for item in result.resources)


def test_an_autotuner_may_try_what_is_too_large(worker: CompileWorker) -> None:
    square = an_exercise("run", ("x",), cases=(Case("c", (TensorSpec((256, 256), torch.half),)),))
    tuned = (
        "@triton.autotune([triton.Config(dict(BM=32, BN=32, BK=32)), triton.Config(dict(BM=64, "
        "BN=64, BK=128), num_stages=9)], key=['K'])"
    )
    source = HEAD + MATMUL.format(options="").replace("@triton.jit", f"{tuned}\n@triton.jit")
    assert compiled(source, worker, square).findings == []


def test_spills_are_information(worker: CompileWorker) -> None:
    square = an_exercise("run", ("x",), cases=(Case("c", (TensorSpec((256, 256), torch.half),)),))
    source = MATMUL.format(options="BM=64, BN=128, BK=32, num_stages=2, num_warps=1")
    result = compiled(HEAD + source, worker, square)
    assert result.findings == []
    assert any(item.spill_bytes > 0 and item.registers == 255 for item in result.resources)


def test_a_launcher_that_raises_is_left_to_the_interpreter(worker: CompileWorker) -> None:
    source = kernel("x = x * 2").replace("    return out", "    raise ValueError('no')")
    result = compiled(source, worker)
    assert result.findings == []
    assert len(result.resources) == 2


@pytest.mark.parametrize("statement", ["os.abort()", "os._exit(0)", "raise ValueError"])
def test_what_was_never_launched_is_not_compiled(statement: str, worker: CompileWorker) -> None:
    result = compiled(f"{HEAD}import os\n\ndef run(x):\n    {statement}\n", worker)
    assert (result.findings, result.resources) == ([], ())
    assert compiled(kernel("x = x * 3"), worker).findings == []


def test_what_takes_too_long_is_named() -> None:
    unrolled = kernel("for i in tl.static_range(100_000):\n        x += i")
    with CompileWorker(cpu_seconds=3) as impatient:
        try:
            (finding,) = compiled(unrolled, impatient).findings
        except GraderError as error:
            pytest.skip(f"the machine is too busy: {error}")
    assert finding.code == "compile-timeout"
    assert "It was at kernel with BLOCK_SIZE=64 for sm_80." in finding.message
    assert "3 s of the processor" in finding.message
    assert finding.line is not None
    assert unrolled.splitlines()[finding.line - 1].startswith("def kernel(")


def test_the_clock_on_the_wall_gives_no_zero(
    worker: CompileWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine is asked twice, and then nobody is blamed."""
    late = Answer(None, {}, b"", timeout=True, ended="time", signal=0, stderr="")
    asked = []
    monkeypatch.setattr(worker, "ask", lambda request: asked.append(request) or late)
    with pytest.raises(GraderError, match="less busy"):
        gate.asked({"task": "compile"}, worker)
    assert len(asked) == 2


def test_a_configuration_that_ptxas_refuses_is_passed_over(worker: CompileWorker) -> None:
    """As by Triton's tuner, where another one runs; without a tuner it is an error."""
    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
    good = gate.LoweredKernel("k", 1, 80, ptx, 0, True, tuned=True)
    bad = replace(good, ptx=ptx.replace("ret;", "no such thing;"))
    worker.ptxas(80)
    assert gate._assembled([bad, good], worker)[0] == []
    alone = gate._assembled([replace(bad, tuned=False), replace(good, tuned=False)], worker)
    assert [finding.code for finding in alone[0]] == ["compile-error"]


def test_answers_are_remembered(worker: CompileWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    source = kernel("x = x * 5")
    first = compiled(source, worker)
    asked = worker.ask
    monkeypatch.setattr(worker, "ask", only_captures(asked))
    assert compiled(source, worker) == first


def only_captures(ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A worker that does not compile any more."""

    def answer(request: Mapping[str, Any]) -> Any:
        assert request["task"] == "capture"
        return ask(request)

    return answer


def test_the_process_is_started_again_when_it_died(worker: CompileWorker) -> None:
    compiled(kernel("x = x * 6"), worker)
    assert worker._started is not None
    os.kill(worker._started.process.pid, signal.SIGKILL)
    worker._started.process.wait()
    assert compiled(kernel("x = x * 7"), worker).findings == []


def test_a_machine_that_cannot_compile_is_no_fault_of_the_submission(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CompileWorker, "module", "graders.judge.compiling.broken")
    with CompileWorker() as hopeless, pytest.raises(GraderError, match="No module named"):
        compiled(kernel("x = x * 2"), hopeless)


def test_ptxas_that_is_gone_is_no_fault_of_the_submission(
    worker: CompileWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "ptxas", lambda target: ["/nowhere/ptxas", "{ptx}", "{cubin}"])
    with pytest.raises(GraderError, match="ptxas"):
        compiled(kernel("x = x * 11"), worker)


def test_a_launch_of_no_programs_compiles_nothing(worker: CompileWorker) -> None:
    source = kernel("x = x * 2").replace("BLOCK_SIZE=64", "BLOCK_SIZE=x.numel() and 64")
    empty, one = (Case(str(size), (TensorSpec((size,)),)) for size in (0, 64))
    some = an_exercise("run", ("x",), cases=(empty, one))
    assert compiled(source, worker, some).findings == []
    broken = source.replace("(triton.cdiv(x.numel(), 64),)", "(1,)")
    finding = compiled(broken, worker, some).findings[0]
    assert "This tl.arange is empty" in finding.message


def test_equal_launches_are_compiled_once_and_counted(worker: CompileWorker) -> None:
    cases = tuple(Case(f"{n}", (TensorSpec((size,)),)) for n, size in enumerate((0, 16, 17, 16)))
    found = submission(kernel("x = x * 2"), "run", "<test>")
    plan = captured(found, worker, an_exercise("run", ("x",), cases=cases)).plan
    assert [launch["count"] for launch in _launches(plan)] == [2, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("too many indices for tensor of rank 0", "has 0 axes"),
        ("num_warps must be a power of 2", "power of two"),
        ("Keyword argument BLOCK was specified but unrecognised", "passes BLOCK"),
        ("Unsupported function referenced: <function f at 0x7f>", "not @triton.jit"),
    ],
)
def test_words_for_what_only_some_versions_say(text: str, words: str) -> None:
    assert words in compile_finding({"text": text, "line": 3}, "").message


def test_the_report_of_ptxas_is_read() -> None:
    log = (
        "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
        "    40 bytes stack frame, 36 bytes spill stores, 44 bytes spill loads\n"
        "ptxas info    : Used 168 registers, used 1 barriers, 40 bytes cumulative stack size, "
        "128 bytes smem, 404 bytes cmem[0]\n"
    )
    made = read_report(log)
    assert (made.registers, made.shared_bytes) == (168, 128)
    assert (made.spill_store_bytes, made.spill_load_bytes) == (36, 44)


def test_torch_makes_no_folder_for_a_user_whom_no_table_knows(tmp_path: Path) -> None:
    code = (
        "import os, pwd\n"
        "def unknown(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = unknown\n"
        "def refused(*_): raise PermissionError('the sandbox makes no folders')\n"
        "os.mkdir = refused\n"
        "from torch._inductor.runtime.cache_dir_utils import cache_dir\n"
        "print(cache_dir())"
    )
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=starting.compiler_environment(str(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"{tmp_path}\n"
