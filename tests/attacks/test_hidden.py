"""What is said about a hidden case cannot be used to learn its shape, its dtype or its values."""

from __future__ import annotations

import json
import random
import textwrap
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from graders.grading.marks import marks
from graders.judge import discovery
from graders.judge.cases.builders import case, cases, two
from graders.judge.compiling.process import Answer, CompileWorker
from graders.judge.launch_trace import gate
from graders.judge.pipeline import Judge
from graders.judge.records import Case, Exercise, Hidden, TensorSpec
from graders.judge.running import jobs
from graders.judge.sandbox.pool import Job, Outcome, Workers
from tests.attacks.attack import HEAD, KERNEL, LAUNCH, honest, launcher
from tests.support.capturing import SECRET
from tests.support.paths import correct
from triton_util.client.card import report_html
from triton_util.client.report import read_report
from triton_util.report import GateStatus, Report, Verdict

PUBLIC = (64, 300)
EXERCISE = replace(
    discovery.exercise("vector_add"),
    cases=cases(two, "n", PUBLIC),
    parts={"core": 6, "edges": 4},
    traffic_factor=None,
)


def hidden_cases(seed: str) -> tuple[Case, ...]:
    """Cases of even sizes in the core and of odd ones at the edges, all of them drawn."""
    draw = random.Random(seed)
    sizes = [*(2 * draw.randrange(400, 900) for _ in range(3))]
    sizes += [2 * draw.randrange(400, 900) + 1 for _ in range(4)]
    dtypes = draw.choices((torch.float32, torch.float16), k=len(sizes))
    made = []
    for size, dtype in zip(sizes, dtypes, strict=True):
        args = two((size,), dtype=dtype, view=draw.choice(("contiguous", "offset")))
        part = "edges" if size % 2 else "core"
        made.append(case(f"n={size}, {dtype}", args, part=part))
    return tuple(made)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(official=True, secret=SECRET) as running, pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "CASE_SECONDS", 1.0)
        if running.tier != "A":
            pytest.skip("no tier A here")
        yield running


def judged(
    judge: Judge,
    patch: pytest.MonkeyPatch,
    source: str,
    unseen: Sequence[Case],
    exercise: Exercise = EXERCISE,
) -> Report:
    """The official report where these cases are hidden, and none is constructed.

    Constructed public cases have sizes of the hidden ones: a report would show what fails in them.
    """
    patch.setattr(discovery, "contract", lambda _name: None)
    patch.setattr(discovery, "hidden", lambda _name: Hidden(tuple(unseen)))
    judge.runtime._prepared.clear()
    return judge.judge_text(source, exercise)


def everything(report: Report) -> str:
    """All that anybody is shown of a report, but for the time of the public cases."""
    report = replace(report, seconds=0.0)
    views = [report.to_json(), report.to_line(), marks(EXERCISE, report).to_json()]
    return json.dumps(views) + report_html(read_report(report.to_json()))


# ---------------------------------------------------------------- what a launcher can try to say

WRONG = LAUNCH.replace("x.numel(), BLOCK", "x.numel() - 1, BLOCK")
NAMED = "".join(
    KERNEL.replace("add_kernel", f"wrong_{number}").replace("x + y, mask", f"{what}, mask")
    for number, what in enumerate(("x - y", "x * y", "x + x", "y", "x + y * 0"))
)
TUNED = "".join(
    f"@triton.autotune([triton.Config({{'BLOCK_SIZE': {size}}}) for _ in range(1)], key=['n'])\n"
    f"{KERNEL.replace('add_kernel', f'tuned_{size}').replace('n_elements', 'n')}"
    for size in (32, 64, 128)
)
PRINTING = KERNEL.replace("add_kernel", "printing").replace(
    "    tl.store(", '    tl.device_print("x", x)\n    tl.store('
)
ENDLESS = KERNEL.replace("add_kernel", "endless").replace(
    "    tl.store(", "    while n_elements > 0:\n        n_elements += 0\n    tl.store("
)
DOT = KERNEL.replace("add_kernel", "dot").replace("x + y, mask", "tl.dot(x, y), mask")
PLACED = """\
@triton.jit
def placed(x_ptr, y_ptr, output_ptr, n_elements, hole, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = (offsets < n_elements) & (offsets != hole)
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)

"""
OUTSIDE = KERNEL.replace("add_kernel", "outside").replace(", mask=mask", "")
GRID = "(triton.cdiv(n, 1024),)"
CALL = f"[{GRID}](x, y, output, n, BLOCK_SIZE=1024)\nreturn output"
FRAMES = """
frame = sys._getframe()
while frame is not None:
    me = frame.f_locals.get("self")
    if type(me).__name__ == "Capture":
        found = " ".join(f"size_{c[0]['shape'][0]} {c[0]['strides']}" for c in me.request["cases"])
        @
    frame = frame.f_back
"""
# Each is done in hidden cases of odd sizes: `n` is the size.
WAYS: Mapping[str, str] = {
    "the text of an error": "raise ValueError(f'size_{n} {x.dtype} {x.stride()}')",
    "the kind of an error": "raise type(f'size_{n}', (Exception,), {})('')",
    "the line of an error": "".join(
        f"if n % 7 == {rest}:\n    raise ValueError\n" for rest in range(7)
    ),
    "one error or another": "raise (ValueError, KeyError, SystemExit, MemoryError)[n // 2 % 4]",
    "a remark": f"(torch.isnan, torch.isinf)[n // 2 % 2](x)\n{WRONG}",
    "a forged remark": FRAMES.replace("@", "me.recorder.tell('checks-values', found)") + WRONG,
    "the shape of the result": "return torch.empty(n % 11)",
    "the kind of the result": "return type(f'size_{n}', (), {})()",
    "a method that is not there": "getattr(x, f'size_{n}')",
    "the name of a kernel, and a mistake": f"[{', '.join(f'wrong_{k}' for k in range(5))}]"
    f"[n // 2 % 5]{CALL}",
    "a constant": LAUNCH.replace("1024)\nreturn", "16 << n // 2 % 4)\nreturn").replace(
        "(x.numel(), 1024)", "(x.numel(), 32 << n // 2 % 4)"
    ),
    "a tuner": "(tuned_32, tuned_64, tuned_128)[n // 2 % 3][(1,)](x, y, output, n)\nreturn output",
    "a number that is printed": f"print('size', n)\nprinting[{GRID}](x, y, output, n - 1,"
    " BLOCK_SIZE=1024)\nreturn output",
    "which element is wrong": f"placed[{GRID}](x, y, output, n, n // 3, BLOCK_SIZE=1024)\n"
    "return output",
    "an access outside": f"outside{CALL}",
    "an endless kernel, or a wrong one": f"(endless if n // 2 % 2 else wrong_1){CALL}",
    "what does not compile": f"dot{CALL}",
    "torch or a copy": "output.copy_(x) if n // 2 % 2 else x + y\nreturn output",
    "a kernel from elsewhere": "exec(f'def size_{n}(x): pass')\n"
    "triton.jit(locals()[f'size_{n}'])[(1,)](x)\nreturn output",
    "the frames of the process": FRAMES.replace("@", "raise ValueError(found)"),
    "the end of the process": "import os\nos._exit(n % 5)",
}


def speaking(way: str) -> str:
    body = f"n = x.numel()\noutput = torch.empty_like(x)\nif n not in {PUBLIC} and n % 2:\n"
    kernels = KERNEL + NAMED + TUNED + PRINTING + ENDLESS + DOT + PLACED + OUTSIDE
    body += textwrap.indent(WAYS[way].strip(), "    ") + "\n" + LAUNCH
    return "import sys\n" + HEAD + kernels + launcher(body)


@pytest.mark.parametrize("way", WAYS)
def test_a_report_is_the_same_whatever_the_hidden_cases_are(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Where the same parts fail: a launcher says what it can of the cases that it is given."""
    one, other = (
        judged(judge, monkeypatch, speaking(way), hidden_cases(seed)) for seed in ("one", "other")
    )
    assert one.verdict is Verdict.FAILED, one.findings
    assert [finding.code for finding in one.findings] == ["hidden-cases"]
    assert one.points in (0, EXERCISE.parts["core"])
    assert everything(one) == everything(other)
    assert "size_" not in everything(one)


def test_why_a_hidden_case_could_not_be_judged_is_not_told(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = "".join(
        KERNEL.replace("add_kernel", f"missing_{number}").replace(
            "    tl.store(", "    libdevice.float_as_int(0.0)\n    tl.store("
        )
        for number in range(2)
    )
    body = f"n = x.numel()\noutput = torch.empty_like(x)\nif n not in {PUBLIC}:\n"
    body += f"    (missing_0, missing_1)[n // 2 % 2][{GRID}](x, y, output, n, BLOCK_SIZE=1024)\n"
    head = "from triton.language.extra import libdevice\n" + HEAD
    source = head + KERNEL + missing + launcher(body + "    return output\n" + LAUNCH)
    reports = [
        judged(judge, monkeypatch, source, [case(f"n={size}", two((size,)))]) for size in (700, 702)
    ]
    assert [report.verdict for report in reports] == [Verdict.UNGRADED] * 2
    assert everything(reports[0]) == everything(reports[1])


def test_what_passes_is_told_by_parts_alone(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not how many cases passed: a launcher could count with them."""
    body = "n = x.numel()\noutput = torch.empty_like(x)\nif n in (701, 703):\n    return None\n"
    source = HEAD + KERNEL + launcher(body + LAUNCH)
    sizes = [(701, 703, 705), (701, 707, 709)]
    one, other = (
        judged(judge, monkeypatch, source, [case(f"n={n}", two((n,)), part="edges") for n in three])
        for three in sizes
    )
    assert (one.points, one.cases_passed, one.cases_total) == (6, 2, 5)
    assert everything(one) == everything(other)


# ---------------------------------------------------------------- what a public case can say


def test_a_public_case_knows_no_hidden_one(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    for body in (
        FRAMES.replace("@", "raise ValueError(found)"),
        FRAMES.replace("@", "me.recorder.tell('checks-values', found)"),
    ):
        source = "import sys\n" + HEAD + KERNEL + launcher(body + LAUNCH)
        unseen = [case("n=997", two((997,)))]
        told = everything(judged(judge, monkeypatch, source, unseen))
        assert "size_64" in told, "nothing is said: the test shows nothing"
        assert "size_300" in told
        assert "997" not in told


def test_no_process_has_public_and_hidden_cases(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where launchers run, nor where kernels are compiled, nor where they run."""
    asked: list[set[str]] = []
    ask, run = CompileWorker.ask, Workers.run

    def asking(self: CompileWorker, request: Mapping[str, Any], *rest: Any) -> Answer:
        launched = json.dumps([request.get("cases"), request.get("launches")])
        asked.append({size for size in ("300", "601") if size in launched})
        return ask(self, request, *rest)

    def running(self: Workers, work: Sequence[Job], *rest: Any, **named: Any) -> list[Outcome]:
        asked.append({str(job.args[0].numel()) for job in work} & {"300", "601"})
        return run(self, work, *rest, **named)

    monkeypatch.setattr(CompileWorker, "ask", asking)
    monkeypatch.setattr(Workers, "run", running)
    unseen = [case("n=601", two((601,), dtype=torch.float16))]
    report = judged(judge, monkeypatch, honest(), unseen)
    assert report.points == EXERCISE.max_points
    kinds = [sorted(sizes) for sizes in asked if sizes]
    assert sorted(kinds) == [["300"]] * 3 + [["601"]] * 3


def test_a_plain_function_knows_no_hidden_argument_in_a_public_case(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = discovery.exercise("throughput")
    public, *others = exercise.cases
    exercise = replace(exercise, cases=(public,))
    unseen = [replace(one, args=(*one.args[:-1], 0.0625)) for one in others]
    reading = """
        import sys

        def read():
            frame, found = sys._getframe(), ""
            while frame is not None:
                found += str(frame.f_locals.get("request", ""))
                frame = frame.f_back
            return found

        FOUND = read()

        def throughput(kind, shape, dtype, milliseconds):
            said = FOUND.replace("'", "")
            raise ValueError(said[-150:])
    """
    report = judged(judge, monkeypatch, textwrap.dedent(reading), unseen, exercise)
    told = everything(report)
    assert f"value: {public.args[-1]}" in told, "nothing is said: the test shows nothing"
    assert "0.0625" not in told
    right = correct("throughput")
    assert judged(judge, monkeypatch, right, others, exercise).points == exercise.max_points


# ---------------------------------------------------------------- what numbers a case has

TABLE = """
def vector_add(x, y):
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        generator = torch.Generator().manual_seed(zlib.crc32(f"n={len(x)}".encode()))
        a, b = (torch.randn(len(x), generator=generator, dtype=torch.float64) for _ in "xy")
        bits = (a.float() + b.float()).view(torch.int32).tolist()
    output = torch.empty_like(x)
    put[(1,)](torch.tensor(bits, dtype=torch.int32, device="cuda"), output, len(bits), B=4096)
    return output
"""
PUT = """
import zlib
from torch.utils._python_dispatch import _disable_current_modes
@triton.jit
def put(t_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    bits = tl.load(t_ptr + i, mask=i < n)
    tl.store(o_ptr + i, bits.to(tl.float32, bitcast=True), mask=i < n)
"""


def test_inputs_do_not_follow_from_the_name_of_a_case(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Such a table has too many numbers for the gate *read*: here it lets them pass.
    monkeypatch.setattr(gate, "of_numbers", lambda *_: ())
    report = judged(judge, monkeypatch, HEAD + PUT + TABLE, EXERCISE.cases)
    assert report.gates["interpret"] is GateStatus.FAILED
    assert (report.points, report.cases_passed) == (0, 0)
    assert report.findings[0].code == "wrong-values"


def test_the_test_above_draws_what_the_name_gives() -> None:
    generator = torch.Generator().manual_seed(zlib.crc32(b"n=64"))
    drawn = torch.randn(64, generator=generator, dtype=torch.float64)
    from graders.judge.cases import tensors

    (built,) = tensors.build(Case("n=64", (TensorSpec((64,)),)), zlib.crc32(b"n=64"))
    assert torch.equal(drawn.float(), built)


def test_two_judges_draw_different_numbers_and_one_judge_the_same() -> None:
    def inputs(judge: Judge) -> torch.Tensor:
        return torch.cat([item.args[0] for item in judge.runtime.cases(EXERCISE)])

    made = partial(Judge, secret=SECRET)
    with Judge() as one, Judge() as other, made() as known, made() as again:
        assert torch.equal(inputs(one), inputs(one))
        assert not torch.isin(inputs(one), inputs(other)).any()
        assert torch.equal(inputs(known), inputs(again))
