"""What the interpreter runs and Triton leaves out is found, and honest branches are not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.plan.arms import PLACES, number_arms
from graders.judge.plan.code import Code, placed
from graders.judge.plan.steps import Kernel, LaunchPlan
from graders.judge.running.unseen import ran_in, unseen
from graders.judge.sandbox.pool import Outcome
from tests.attacks.attack import HEAD, KERNEL, LAUNCH, launcher
from triton_util.report import Report

CODE = Code.own(
    "def kernel(a, N):\n"
    "    if N:\n"
    "        return\n"
    "    b = a if N else 2\n"
    "    for i in range(N):\n"
    "        c = b and a\n",
)
PLAN = LaunchPlan(kernels=(Kernel(1, "kernel", {}, (), code=CODE),))


def arms() -> dict[int, int]:
    """The arms of CODE and their lines."""
    tree = CODE.tree()
    nodes = placed(tree)
    number_arms(tree, nodes, 0)
    return {node.arm: node.lineno for node in nodes if hasattr(node, "arm")}


def test_arms_are_what_a_branch_or_a_loop_decides() -> None:
    assert sorted(arms().values()) == [2, 3, 4, 4, 4, 6, 6]


def test_the_first_line_that_was_not_compiled_is_named() -> None:
    every = frozenset(arms())
    late = {arm for arm, line in arms().items() if line > 3}
    found = unseen(PLAN, {"a": every, "b": every}, {"a": every, "b": every - late})
    assert [(f.code, f.line, f.gate) for f in found] == [("not-compiled", 4, "compile")]
    assert "In kernel:" in found[0].message
    assert unseen(PLAN, {"a": every}, {"a": every}) == []


def test_a_launch_is_compared_with_its_own_compilation_alone() -> None:
    arm = frozenset(arms())
    assert unseen(PLAN, {"a": arm}, {"b": arm})


def test_numbers_of_no_arm_are_a_finding_without_a_line() -> None:
    for arm in (5 * PLACES, PLACES - 1):
        (found,) = unseen(PLAN, {"a": frozenset({arm})}, {})
        assert found.line is None


def test_a_process_that_does_not_say_what_ran_is_a_finding() -> None:
    assert ran_in([Outcome("returned")]) is None
    assert ran_in([Outcome("raised"), Outcome("returned", ran={})]) == {}
    assert unseen(PLAN, None, {})


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(official=True) as running:
        yield running


def judged(judge: Judge, source: str) -> Report:
    return judge.judge_text(source, discovery.exercise("vector_add"))


SCRATCH = """
@triton.jit
def touch(out_ptr, MANY: tl.constexpr, LAST: tl.constexpr):
    if LAST == 0{or_else}:
        tl.store(out_ptr + MANY, 1.0)

"""
MANY_LAUNCHES = """
scratch = torch.empty(200, device=x.device)
for number in range(100):
    touch[(1,)](scratch, number, {last})
"""


def many(or_else: str = "", last: str = "0") -> str:
    """An honest launcher that launches another kernel with 100 constants before."""
    text = SCRATCH.format(or_else=or_else) + KERNEL
    return HEAD + text + launcher(MANY_LAUNCHES.format(last=last) + LAUNCH)


def test_launches_beyond_the_limit_are_compiled_when_they_ran(judge: Judge) -> None:
    assert judged(judge, many()).points == 10


def test_a_branch_is_compiled_with_the_constants_with_which_it_ran(judge: Judge) -> None:
    """Each arm was visited with another constant, and the last launch is beyond the limit."""
    report = judged(judge, many(" or print('') is None", "number // 99"))
    assert report.points == 0
    assert [finding.code for finding in report.findings] == ["not-compiled"]


HONEST = """
@triton.jit
def half(x, DOUBLE: tl.constexpr):
    if DOUBLE:
        return x + x
    return x

@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, HINT, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    if tl.program_id(0) * BLOCK_SIZE >= n_elements:
        return
    mask = offsets < n_elements
    total = tl.zeros([BLOCK_SIZE], tl.float32) if HINT is None else HINT
    for turn in tl.static_range(2):
        if turn == 0:
            total += half(tl.load(x_ptr + offsets, mask=mask).to(tl.float32), False)
        else:
            total += tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    for _ in range(0, n_elements, n_elements):
        if n_elements == 1 or BLOCK_SIZE > 1:
            tl.store(output_ptr + offsets, total, mask=mask)

"""


def test_honest_branches_are_compiled(judge: Judge) -> None:
    grid = "(triton.cdiv(x.numel(), 1024) + 1,)"
    launch = LAUNCH.replace("(triton.cdiv(x.numel(), 1024),)", grid)
    launch = launch.replace("BLOCK_SIZE=", "HINT=None, BLOCK_SIZE=")
    report = judged(judge, HEAD + HONEST + launcher(launch))
    assert (report.points, report.findings) == (10, ())
