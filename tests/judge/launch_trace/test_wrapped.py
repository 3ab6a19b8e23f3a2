"""Every exercise's textbook kernel in honest Python styles: none of them changes the verdict."""

# ruff: noqa: E501
from __future__ import annotations

import re

import pytest

from graders.authoring.kernels import correct_kernels
from graders.judge import discovery
from graders.judge.compiling.gate import compile_gate
from graders.judge.compiling.process import CompileWorker
from graders.judge.pipeline import Judge
from graders.judge.submission.loading import from_text
from tests.judge.launch_trace.honest_styles import HEAD, KERNEL, LAUNCH
from tests.support.capturing import VECTORS, captured
from tests.support.paths import ROOMS, correct
from triton_util.report import Finding

# name → lines before the wrapper, lines in it before the call, and the call.
STYLES: dict[str, tuple[str, str, str]] = {
    "class": ("class Op:\n    def __call__(self, *a):\n        return inner(*a)\n", "", "Op()(*args)"),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Job:\n    args: tuple\n", "",
        "inner(*Job(args).args)",
    ),
    "decorator": (
        "import functools\ndef logged(f):\n    @functools.wraps(f)\n    def run(*a, **k):\n"
        "        return f(*a, **k)\n    return run\n", "", "logged(inner)(*args)",
    ),
    "logging": (
        "import logging\nlog = logging.getLogger(__name__)\n",
        "log.info('called with %s', [getattr(a, 'shape', a) for a in args])", "inner(*args)",
    ),
    "perf_counter": ("import time\n", "t = time.perf_counter()", "inner(*args)"),
    "events": (
        "", "a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2)); a.record(); b.record()"
        "; torch.cuda.synchronize(); t = a.elapsed_time(b)", "inner(*args)",
    ),
    "debug": ("DEBUG = False\n", "if DEBUG: print(args[0].sum().item())", "inner(*args)"),
    "isnan": ("", "assert not torch.isnan(args[0]).any()", "inner(*args)"),
    "greek": ("β = 1\n", "größe = args[0].shape", "inner(*args)"),
    "contextmanager": (
        "import contextlib\n@contextlib.contextmanager\ndef region(name):\n    yield name\n", "",
        "inner(*args) if region('k').__enter__() else None",
    ),
    "named tuple": (
        "from typing import NamedTuple\nclass Sizes(NamedTuple):\n    n: int = 1\n",
        "n = Sizes(args[0].numel()).n", "inner(*args)",
    ),
    "enum": ("import enum\nclass Block(enum.IntEnum):\n    SMALL = 64\n", "b = Block.SMALL * 2", "inner(*args)"),
    "lru_cache": (
        "from functools import lru_cache\n@lru_cache\ndef block(n):\n    return max(16, n)\n",
        "b = block(args[0].numel())", "inner(*args)",
    ),
    "generator": ("", "total = sum(a.numel() for a in args if isinstance(a, torch.Tensor))", "inner(*args)"),
    "walrus": ("", "if (n := args[0].numel()) < 0: raise ValueError(n)", "inner(*args)"),
    "match": (
        "def rank(a):\n    match a.dim():\n        case 1:\n            return 'vector'\n"
        "        case _:\n            return 'more'\n", "kind = rank(args[0])", "inner(*args)",
    ),
    "is_cuda": ("", "assert args[0].is_cuda and args[0].device.type == 'cuda'", "inner(*args)"),
    "device": ("DEVICE = torch.device('cuda')\n", "assert args[0].device.type == DEVICE.type", "inner(*args)"),
    "sizes in a tensor": ("", "n = int(torch.tensor(args[0].shape).prod())", "inner(*args)"),
    "optional": (
        "from typing import Optional\ndef pick(a: Optional[torch.Tensor] = None):\n    return a\n",
        "first = pick(args[0])", "inner(*args)",
    ),
}  # fmt: skip
EXERCISES = [
    name
    for name in sorted(discovery.of_kernels())
    if "textbook" in correct_kernels(ROOMS.kernels(name))
]


def wrapped(name: str, style: str, text: str) -> str:
    """The launcher under another name, called from one in this style."""
    before, first, call = STYLES[style]
    inner = re.sub(rf"^def {name}\(", "def inner(", text, flags=re.MULTILINE)
    parameters = ", ".join(discovery.exercise(name).parameters)
    body = f"    args = ({parameters},)\n    {first or 'pass'}\n    return {call}\n"
    return f"\ufeff{inner}\n{before}\ndef {name}({parameters}):\n{body}"


def test_the_whole_judge_accepts_every_style() -> None:
    """One exercise: what a style could change is the way to the kernel, not the kernel."""
    exercise = discovery.exercise("vector_add")
    text = correct("vector_add")
    with Judge() as judge:
        reports = {
            style: judge.judge_text(wrapped("vector_add", style, text), exercise)
            for style in STYLES
        }
    found = {style: report.findings for style, report in reports.items() if report.findings}
    assert found == {}
    assert len(reports) >= 20
    assert {report.points for report in reports.values()} == {exercise.max_points}


MADE = (
    "{name} = functools.partial(inner)",
    "{name} = lambda *given: inner(*given)",
    "{name}: object = Op()",
    "{name} = Op().__call__",
)


def test_a_launcher_may_be_what_an_expression_makes() -> None:
    exercise = discovery.exercise("vector_add")
    inner = re.sub(r"^def vector_add\(", "def inner(", correct("vector_add"), flags=re.MULTILINE)
    before = f"import functools\n{inner}\n{STYLES['class'][0]}"
    with Judge() as judge:
        for made in MADE:
            report = judge.judge_text(f"{before}\n{made.format(name='vector_add')}\n", exercise)
            assert (report.findings, report.points) == ((), exercise.max_points)
        report = judge.judge_text(f"{before}\nvector_add = 1\n", exercise)
        assert [finding.code for finding in report.findings] == ["function-missing"]


def compiled(text: str, worker: CompileWorker) -> list[Finding]:
    """What the compiler finds in a launcher with nothing wrong with it."""
    submission = from_text(text, VECTORS)
    found = captured(submission, worker)
    assert found.findings == ()
    return compile_gate(submission, found, worker).findings


def test_the_name_of_a_kernel_that_no_assembler_takes_is_a_remark(worker: CompileWorker) -> None:
    text = f"{HEAD}{KERNEL}def vector_add(x, y):\n{LAUNCH}".replace("add_kernel", "größen_kernel")
    assert compiled(text, worker) == []
    (remark,) = captured(text, worker).remarks
    assert remark.code == "kernel-name"
    assert "`größen_kernel` has letters outside ASCII" in remark.message
    assert remark.line is not None
    assert text.split("\n")[remark.line].startswith("def größen_kernel")


def test_other_names_may_have_any_letters(worker: CompileWorker) -> None:
    kernel = KERNEL.replace("mask = ", "größer = ").replace("mask=mask", "mask=größer")
    kernel = kernel.replace("x_ptr", "größe_ptr").replace("BLOCK_SIZE", "BLÖCKE")
    launch = LAUNCH.replace("BLOCK_SIZE", "BLÖCKE")
    assert compiled(f"{HEAD}{kernel}def vector_add(x, y):\n{launch}", worker) == []


@pytest.mark.parametrize("number", range(len(STYLES)))
def test_a_style_changes_nothing(number: int, worker: CompileWorker) -> None:
    """Each style around every third exercise or so: all pairs would take minutes."""
    style = list(STYLES)[number]
    for name in EXERCISES[number % 4 :: 4]:
        exercise = discovery.exercise(name)
        text = correct(name)
        plain = captured(text, worker, exercise).plan
        found = captured(wrapped(name, style, text), worker, exercise)
        assert found.findings == (), (name, style)
        assert [case.raised for case in found.plan.cases] == [None] * len(exercise.cases)
        assert [len(case.steps) for case in found.plan.cases] == [
            len(case.steps) for case in plain.cases
        ]
