"""Every model solution compiles for a T4, an A100 and an H100, on a machine without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.solutions.solution_cases import all_cases

ROOT = Path(__file__).parents[2]


def compiled(*options: str) -> list[dict[str, Any]]:
    """The facts of every kernel, from a process that has the interpreter switched off."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "tests/solutions/compile_solutions.py", *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("target", [75, 80, 90])
def test_plain_solutions_compile(target: int) -> None:
    facts = compiled("--target", str(target), "--few")
    assert {fact["exercise"] for fact in facts} == {case.exercise for case in all_cases()}
    wrong = [fact for fact in facts if fact["error"]]
    assert not wrong, wrong


@pytest.mark.slow
@pytest.mark.parametrize("exercise", ["gelu", "linear_bias_relu", "attention"])
def test_bfloat16_compiles_for_a_t4_which_has_none(exercise: str) -> None:
    """So that a learner with a T4 sees these cases pass and not be skipped."""
    facts = compiled("--target", "75", "--few", "--half", "bf16", "--only", exercise)
    assert facts
    for fact in facts:
        assert "*bf16" in fact["signature"], fact
        assert not fact["error"], fact


@pytest.mark.slow
def test_fast_kernels_for_hopper_use_what_makes_them_fast() -> None:
    facts = compiled("--form", "gluon")
    assert len(facts) == 9
    for fact in facts:
        few = fact["exercise"] == "hopper_few_rows_kernel"
        uses = ("mma", "wide_loads") if few else ("wgmma", "tma", "registers_moved")
        assert not fact["error"], fact
        assert all(fact[what] for what in uses), fact
        assert fact["shared"] <= 227 * 1024, fact
