"""The misconceptions about a test: what its inputs miss, and which results it misjudges."""

from __future__ import annotations

import math
from collections.abc import Callable

from graders.judge.records import Evidence, Misconception
from triton_util.mutants import NO_BUG, KernelUnderTest, shown

Detector = Callable[[Evidence], bool]


def _tested(evidence: Evidence) -> KernelUnderTest:
    tested: KernelUnderTest = evidence.args[0].__self__
    return tested


def _inputs(kernel: KernelUnderTest) -> list[tuple[float, ...]]:
    return [given for given, _ in kernel.runs]


def _said(evidence: Evidence) -> float | None:
    return None if evidence.actual is None else float(evidence.actual.flatten()[0])


def _missed(look: Callable[[KernelUnderTest], bool]) -> Detector:
    """Detects a bug that was missed, because no input showed it."""

    def detector(evidence: Evidence) -> bool:
        kernel = _tested(evidence)
        missed = _said(evidence) == 0 and kernel.fault != NO_BUG and not shown(kernel)
        return missed and bool(kernel.runs) and look(kernel)

    return detector


def _never_run(evidence: Evidence) -> bool:
    return _said(evidence) is not None and not _tested(evidence).runs


def _result_ignored(evidence: Evidence) -> bool:
    return _said(evidence) == 0 and shown(_tested(evidence))


def _nan_compared(evidence: Evidence) -> bool:
    kernel = _tested(evidence)
    has_nan = any(math.isnan(item) for given in _inputs(kernel) for item in given)
    return _said(evidence) == 1 and kernel.fault == NO_BUG and has_nan


def _false_alarm(evidence: Evidence) -> bool:
    return _said(evidence) == 1 and _tested(evidence).fault == NO_BUG


def _one_block(kernel: KernelUnderTest) -> bool:
    return all(len(given) <= kernel.block for given in _inputs(kernel))


def _equal_values(kernel: KernelUnderTest) -> bool:
    return all(len(set(given)) <= 1 for given in _inputs(kernel))


def _only_full_blocks(kernel: KernelUnderTest) -> bool:
    return all(len(given) % kernel.block == 0 for given in _inputs(kernel))


def _no_full_block(kernel: KernelUnderTest) -> bool:
    return all(len(given) % kernel.block for given in _inputs(kernel) if given)


def _no_negative(kernel: KernelUnderTest) -> bool:
    return kernel.fault == "sign lost"


def _no_fraction(kernel: KernelUnderTest) -> bool:
    return kernel.fault == "fraction lost"


def _stale(kernel: KernelUnderTest) -> bool:
    """Whether some input shows the bug if it is the first one."""
    fresh = [KernelUnderTest(kernel.fault, kernel.block) for _ in kernel.runs]
    for tried, given in zip(fresh, _inputs(kernel), strict=True):
        tried.run(given)
    return any(map(shown, fresh))


OF_A_TEST = (
    Misconception(
        code="never-run",
        title="The test never runs the kernel",
        message="`find_bug` returned an answer without calling `run`. It can only be a guess.",
        next_step="Call `run(numbers)` with a list of numbers, and compare the result with it.",
        detector=_never_run,
    ),
    Misconception(
        code="nan-is-not-nan",
        title="A correct kernel is reported, because NaN is not equal to itself",
        message="The input contains NaN, and the kernel copied it. But `nan == nan` is false.",
        next_step="Count a pair as equal if `a == b`, or if `a != a` and `b != b`.",
        detector=_nan_compared,
    ),
    Misconception(
        code="false-alarm",
        title="A correct kernel is reported",
        message="Every copy of this kernel was correct, and the test returned 1.",
        next_step="Return 1 only if a number of the copy differs from the number that you gave.",
        detector=_false_alarm,
    ),
    Misconception(
        code="result-ignored",
        title="An input showed the bug, and the test returned 0",
        message="A copy differed from its input. The comparison did not notice, or a later run "
        "replaced the answer.",
        next_step="Compare the lengths and every pair of numbers, and return 1 at the first "
        "difference.",
        detector=_result_ignored,
    ),
    Misconception(
        code="old-result",
        title="The result of an earlier run hides the bug",
        message="The kernel leaves an element out. But the output's memory still has that number "
        "from an earlier run, because several inputs begin with the same numbers.",
        next_step="Use other numbers for each length: `(-1) ** i * (i + n + 0.25)`.",
        detector=_missed(_stale),
    ),
    Misconception(
        code="equal-values",
        title="All numbers of an input are equal",
        message="In each input all numbers are equal. So an exchanged or repeated element looks "
        "correct.",
        next_step="Use numbers that are all different: `[i + n + 0.25 for i in range(n)]`.",
        detector=_missed(_equal_values),
    ),
    Misconception(
        code="one-block-only",
        title="No input is longer than a block",
        message="Every input fits into one block of this kernel. So only program 0 had work.",
        next_step="A block has up to 64 lanes: try inputs of more than 64 numbers, too.",
        detector=_missed(_one_block),
    ),
    Misconception(
        code="only-full-blocks",
        title="Every input fills its last block",
        message="The length of each input is a multiple of the block size. So the kernel never "
        "had a partly filled block.",
        next_step="Add lengths that are one below and one above a power of two.",
        detector=_missed(_only_full_blocks),
    ),
    Misconception(
        code="no-full-block",
        title="No input fills its last block",
        message="No length is a multiple of the block size. So a bug in a full last block stays "
        "hidden.",
        next_step="Add the powers of two up to 64 to your lengths.",
        detector=_missed(_no_full_block),
    ),
    Misconception(
        code="no-negative-number",
        title="No number is negative",
        message="This kernel loses the sign. No input has a negative number, so its copies are "
        "correct.",
        next_step="Use both signs: `(-1) ** i * (i + n + 0.25)`.",
        detector=_missed(_no_negative),
    ),
    Misconception(
        code="no-fraction",
        title="All numbers are whole",
        message="This kernel loses the fraction. All numbers of the inputs are whole, so its "
        "copies are correct.",
        next_step="Add a fraction to each number: `i + n + 0.25`.",
        detector=_missed(_no_fraction),
    ),
)
