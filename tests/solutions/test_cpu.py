"""The plain model solutions are right on the CPU, in Triton's own interpreter, and can fail."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.solutions.solution_cases import SolvedCase, all_cases, together, worst_ratio

ROOT = Path(__file__).parents[2]
EXERCISES = sorted({case.exercise for case in all_cases()})


# The fast forms that are written in Triton proper; those in Gluon run on Hopper only.
FAST_ON_CPU = ("gelu", "layernorm", "softmax", "transpose")


def solved(*options: str) -> list[dict[str, object]]:
    """What every case gave, solved in one process that has the interpreter switched on."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "tests/solutions/run_solution_cases.py", "--device", "cpu", *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="session")
def records() -> list[dict[str, object]]:
    return solved("--form", "plain")


@pytest.mark.parametrize("exercise", EXERCISES)
def test_solution_is_right(exercise: str, records: list[dict[str, object]]) -> None:
    mine = [record for record in records if record["exercise"] == exercise]
    assert len(mine) >= 6
    wrong = [record for record in mine if not record["ratio"] <= 1.0]
    assert not wrong, wrong


@pytest.mark.parametrize("exercise", FAST_ON_CPU)
def test_fast_form_is_right(exercise: str) -> None:
    mine = solved("--form", "fast", "--only", exercise)
    assert len(mine) >= 20
    wrong = [record for record in mine if not record["ratio"] <= 1.0]
    assert not wrong, wrong


def judged(actual: torch.Tensor, expected: torch.Tensor) -> float:
    case = SolvedCase("copy", "debugging", "planted", together(), lambda x: expected)
    return worst_ratio(case, (expected,), actual)


def test_the_measure_tells_wrong_from_right() -> None:
    x = torch.randn(8, 8, generator=torch.Generator().manual_seed(0))
    assert judged(x.clone(), x) == 0.0
    assert judged(x * (1 + 1e-4), x) > 1.0
    assert judged(x.T, x) == math.inf, "not contiguous"
    assert judged(x[:4], x) == math.inf, "wrong shape"
    assert judged(x.double(), x) == math.inf, "wrong dtype"
    broken = x.clone()
    broken[3, 3] = math.nan
    assert judged(broken, x) == math.inf
