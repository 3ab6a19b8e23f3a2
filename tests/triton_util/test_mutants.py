"""The copy kernels under test: each bug shows for some input, and the table says what is found."""

from __future__ import annotations

import math

import pytest

from graders.judge import discovery
from solutions.debugging import find_bug
from triton_util import mutants
from triton_util.mutants import NO_BUG, KernelUnderTest, same

CASES = (*discovery.exercise("find_bug").cases, *discovery.hidden("find_bug").cases)
KERNELS = [tuple(case.args) for case in CASES]


@pytest.mark.parametrize(("fault", "block"), KERNELS)
def test_a_bug_shows_and_no_bug_does_not(fault: str, block: int) -> None:
    wrong = 0
    for n in (0, 1, block, block + 1, 6 * block):
        numbers = [-i - 0.3 for i in range(n)]
        numbers[:2] = [math.nan, math.inf][:n]
        copied = KernelUnderTest(fault, block).run(numbers)
        wrong += len(copied) != n or not all(map(same, copied, numbers))
    assert bool(wrong) == (fault != NO_BUG)


def test_the_table_counts_what_a_test_finds() -> None:
    assert "correct for 11 of 11 kernels" in mutants.table(find_bug)
    careless = mutants.table(lambda run: int(list(run([1.0, 2.0])) != [1.0, 2.0]))
    assert "last element masked off       32  1\n" in careless
    assert "offsets without the pid        4  0 WRONG, not 1" in careless
    assert "TestError" in mutants.table(lambda run: len(run(3)))  # type: ignore[arg-type]


def test_the_stub_finds_nothing() -> None:
    assert "None WRONG, not 1" in mutants.table(lambda run: None)  # type: ignore[arg-type,return-value]
