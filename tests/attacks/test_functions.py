"""Attacks from a plain function: it is to find out what only the judge knows, or to stop the judge.

The stopwatch of `fair_ms` is the bait: what is true of its GPUs is in the judge alone. Each attack
is a whole submission, judged officially, and none of them has the points of a part.
"""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Iterator
from functools import partial

import pytest

from graders.judge import discovery, runtime
from graders.judge.calling import calls
from graders.judge.compiling.process import CompileWorker
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise
from tests.support.capturing import SECRET
from tests.support.paths import correct
from triton_util.bench.simulated import models
from triton_util.report import Report, Verdict

LONGEST_SECONDS = 120.0
LONGEST_REPORT = 20_000
HEAD = "import gc, json, os, sys, time\n\n\n"


def stopwatch(body: str) -> str:
    """A submission whose stopwatch has this body."""
    lines = "".join(f"    {line}\n" for line in body.strip().split("\n"))
    return f"{HEAD}def fair_ms(run, fresh_inputs, gpu):\n{lines}"


FORGED = "os.write(1, json.dumps({}).encode() + b'\\n')"


def forged(message: str, then: str = "return 0.3") -> str:
    """A stopwatch that writes a line of its own to the judge."""
    return stopwatch(f"{FORGED.format(message)}\n{then}")


def asking(name: str) -> str:
    """A stopwatch that returns what a name of the GPU would give, if it were offered."""
    return forged(
        f"{{'use': gpu._far, 'name': {name!r}, 'args': []}}",
        "answer = os.read(1, 100000)\nraise ValueError('loot: ' + answer.decode())",
    )


ATTACKS = {
    # to look at what stands behind the stand-ins
    "model": stopwatch("return gpu.model.kernel_ms"),
    "attributes": stopwatch(
        "found = [getattr(gpu, name) for name in dir(gpu)]\n"
        "found += [vars(gpu), vars(run), run.__closure__[0].cell_contents]\n"
        "return max(one for one in found if isinstance(one, float))"
    ),
    "bound": stopwatch("return run.__self__.model.kernel_ms"),
    "heap": stopwatch(
        "kinds = ('SimulatedGpu', 'Model', 'Call', 'Remote')\n"
        "for one in gc.get_objects():\n"
        "    if type(one).__name__ in kinds and hasattr(one, 'kernel_ms'):\n"
        "        return one.kernel_ms\n"
        "    if type(one).__name__ in kinds and hasattr(one, 'model'):\n"
        "        return one.model.kernel_ms\n"
        "raise LookupError"
    ),
    "frames": stopwatch(
        "frame = sys._getframe()\n"
        "while frame:\n"
        "    for value in frame.f_locals.values():\n"
        "        if isinstance(value, float):\n"
        "            return value\n"
        "    frame = frame.f_back\n"
        "raise LookupError"
    ),
    "table": stopwatch(
        "from triton_util.bench import simulated\n"
        "turn = globals().setdefault('turn', [0])\n"
        "turn[0] += 1\n"
        "return simulated.MODELS[(turn[0] - 1) % 9].kernel_ms"
    ),
    "own-gpu": stopwatch(
        "from triton_util.bench import simulated\n"
        "gpu.__class__ = simulated.SimulatedGpu\n"
        "return gpu.model.kernel_ms"
    ),
    "solution": stopwatch(
        "sys.path.insert(0, os.getcwd())\n"
        "from solutions.benchmarking import fair_ms as model\n"
        "return model(run, fresh_inputs, gpu)"
    ),
    "hidden": stopwatch(
        "from graders.course.benchmarking.hidden import HIDDEN\n"
        "raise ValueError('loot: ' + repr(HIDDEN))"
    ),
    "records": stopwatch(
        "from graders.course.benchmarking.exercise import EXERCISES\n"
        "return EXERCISES[0].reference(run, fresh_inputs, gpu)"
    ),
    "memory": stopwatch(
        "with open(f'/proc/{os.getppid()}/mem', 'rb') as file:\n    return len(file.read(1))"
    ),
    # to say to the judge what no stand-in says
    "ask-model": asking("model"),
    "ask-steps": asking("steps"),
    "ask-private": asking("_kernel_ms"),
    "ask-dunder": asking("__class__"),
    "ask-call": asking(""),
    "another-number": forged("{'use': 10**9, 'name': 'clock', 'args': []}"),
    "another-case": forged("{'use': (1 << 24) + 2, 'name': 'clock', 'args': []}"),
    "negative-number": forged("{'use': -1, 'name': 'clock', 'args': []}"),
    "odd-number": forged("{'use': True, 'name': 'clock', 'args': []}"),
    "odd-arguments": forged("{'use': 2, 'name': 'clock', 'args': [[1]]}"),
    "many-arguments": forged("{'use': 2, 'name': 'clock', 'args': [{'value': 1}] * 1000}"),
    "no-json": stopwatch("os.write(1, b'}{\\n')\nreturn 0.3"),
    "deep-json": stopwatch("os.write(1, b'[' * 100000 + b'\\n')\nreturn 0.3"),
    "long-line": stopwatch("os.write(1, b'x' * (8 << 20))\nreturn 0.3"),
    "huge-number": stopwatch(
        "os.write(1, b'{\"returned\": {\"number\": 1' + b'0' * 4000 + b'}}\\n')\nreturn 0.3"
    ),
    "all-results": stopwatch(
        "for _ in range(100):\n"
        "    os.write(1, b'{\"returned\": {\"number\": 0.3}}\\n')\n"
        "os._exit(0)"
    ),
    "odd-results": stopwatch(
        "for odd in ('[]', '5', 'null', '{\"tuple\": 3}', '{\"kind\": \"\\\\u001b[31m\"}'):\n"
        "    os.write(1, ('{\"returned\": ' + odd + '}\\n').encode())\n"
        "os._exit(0)"
    ),
    "odd-errors": stopwatch(
        "for odd in ('[]', '{\"kind\": 5, \"text\": [], \"line\": \"x\"}', '{\"line\": -7}'):\n"
        "    os.write(1, ('{\"raised\": ' + odd + '}\\n').encode())\n"
        "os._exit(0)"
    ),
    "the-end": stopwatch("os.write(1, b'{\"end\": true}\\n')\nos._exit(0)"),
    "does-not-listen": stopwatch(
        "line = json.dumps({'use': gpu._far, 'name': 'clock', 'args': []}).encode() + b'\\n'\n"
        "for _ in range(100000):\n    os.write(1, line)\n"
        "return 0.3"
    ),
    "deaf": stopwatch("os.close(1)\nreturn gpu.clock()"),
    # to keep the judge waiting
    "loop": stopwatch("while True:\n    pass"),
    "loop-that-catches": stopwatch(
        "while True:\n    try:\n        while True:\n            pass\n"
        "    except BaseException:\n        pass"
    ),
    "sleep": stopwatch("time.sleep(10000)"),
    "asks-for-ever": stopwatch(
        "while True:\n    try:\n        gpu.clock()\n    except RuntimeError:\n        pass"
    ),
    "recursion": stopwatch("return fair_ms(run, fresh_inputs, gpu)"),
    "memory-hog": stopwatch("return len(bytearray(64 << 30))"),
    "exit": stopwatch("sys.exit(0)"),
    "end": stopwatch("os._exit(0)"),
    "kill": stopwatch("os.kill(os.getpid(), 9)\nreturn 0.3"),
    # to pass off something else as a number
    "not-a-number": stopwatch("return float('nan')"),
    "endless": stopwatch("return float('inf')"),
    "always-equal": (
        f"{HEAD}class Any(float):\n    def __eq__(self, other):\n        return True\n"
        "    def __sub__(self, other):\n        return 0.0\n    __rsub__ = __sub__\n\n\n"
        "def fair_ms(run, fresh_inputs, gpu):\n    return Any(0.3)\n"
    ),
    "odd-name": (
        f"{HEAD}def fair_ms(run, fresh_inputs, gpu):\n"
        "    return type('\\x1b[31m\\u202e' + 'x' * 5000, (), {})()\n"
    ),
    "odd-words": stopwatch("words = '\\x1b[2J\\u202e' + 'loud ' * 100000\nraise ValueError(words)"),
}  # fmt: skip


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    return discovery.exercise("fair_ms")


@pytest.fixture(scope="module")
def judge(exercise: Exercise) -> Iterator[Judge]:
    with Judge(official=True) as running, pytest.MonkeyPatch.context() as patch:
        # the usual limit of 20 s of the processor is too long to wait for here
        patch.setattr(runtime, "CompileWorker", partial(CompileWorker, cpu_seconds=3.0))
        patch.setattr(calls, "SILENT_SECONDS", 5.0)
        if running.tier != "A":
            pytest.skip("no tier A here")
        honest_passes(running, exercise)
        yield running


def honest_passes(judge: Judge, exercise: Exercise) -> None:
    source = correct("fair_ms")
    report = judge.judge_text(source, exercise)
    assert report.verdict is Verdict.PASSED, f"vacuous: {report.findings}"


def said(report: Report) -> str:
    return json.dumps(report.to_json(), ensure_ascii=False)


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_learns_the_truth_or_stops_the_judge(
    judge: Judge, exercise: Exercise, name: str
) -> None:
    started = time.monotonic()
    report = judge.judge_text(ATTACKS[name], exercise)
    assert time.monotonic() - started < LONGEST_SECONDS
    assert report.verdict is Verdict.FAILED, [finding.message for finding in report.findings]
    assert report.points == 0
    assert report.findings, "a refusal must say why"
    words = said(report)
    assert len(words) < LONGEST_REPORT
    assert not [c for c in words if unicodedata.category(c) in ("Cc", "Cf", "Cs")]
    assert "Hidden(" not in words
    assert '"gives"' not in words, "the judge answered a question that no stand-in asks"


def test_an_honest_stopwatch_still_passes_after_all_of_them(
    judge: Judge, exercise: Exercise
) -> None:
    honest_passes(judge, exercise)


def test_the_truth_is_drawn_from_the_secret_of_the_judge_and_the_code(exercise: Exercise) -> None:
    def truths(judge: Judge, source: str = "", hidden: bool = False) -> list[float]:
        return [call.expected[0] for call in judge.runtime.calls(exercise, source, hidden)]

    with (
        Judge(official=True) as one,
        Judge(official=True) as other,
        Judge(official=True, secret=SECRET) as known,
        Judge(official=True, secret=SECRET) as again,
    ):
        assert truths(one) == truths(one), "one judge gives equal code equal points"
        assert truths(known) == truths(again)
        others = (truths(one, "another submission"), truths(other), truths(one, hidden=True))
        assert all(set(truths(one)).isdisjoint(drawn) for drawn in others)
        from_files = [model.kernel_ms for model in models(0)]
        assert set(from_files).isdisjoint(truths(one))


SPEAKS = """
def throughput(kind, shape, dtype, milliseconds):
    if kind == "copy" and shape == (12_345_678,):
        raise ValueError(f"loot: {kind} {shape} {milliseconds}")
    if kind == "matmul" and shape == (640, 1280, 2560):
        return "loot"
    if shape == (777, 3333):
        return (7777.0, 3333.0)
    return answer(kind, shape, dtype, milliseconds)
"""


def test_a_hidden_case_cannot_be_told_by_an_error_or_a_result(judge: Judge) -> None:
    """The submission above knows hidden cases by heart: it shows what comes through of them."""
    right = correct("throughput")
    source = right.replace("def throughput(", "def answer(") + SPEAKS
    report = judge.judge_text(source, discovery.exercise("throughput"))
    assert report.verdict is Verdict.FAILED
    assert [finding.code for finding in report.findings] == ["hidden-cases"]
    words = json.dumps([finding.to_json() for finding in report.findings])
    for secret in ("loot", "12345678", "12_345_678", "777", "1280", "0.031"):
        assert secret not in words
    assert all(finding.line is None for finding in report.findings)


COUNTS = """
calls = 0

def find_bug(run):
    global calls
    calls += 1
    return int(calls > {correct})
"""


def test_a_function_that_counts_its_calls_does_not_know_its_case() -> None:
    """The public cases begin with the correct kernels, and are known to everybody."""
    exercise = discovery.exercise("find_bug")
    source = COUNTS.format(correct=sum(case.args[0] == "no bug" for case in exercise.cases))
    with Judge(secret=SECRET) as judge:
        report = judge.judge_text(source, exercise)
    assert report.verdict is Verdict.FAILED
    assert report.points == 0
