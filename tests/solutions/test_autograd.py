"""The model solutions of the lesson on gradients agree with the chain rule in float64."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def errors() -> dict[str, float]:
    """The largest error of each case, as a multiple of what its dtype allows."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "tests/solutions/run_autograd.py"],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = (line.split(" ", 1) for line in done.stdout.splitlines())
    return {name: float(worst) for worst, name in lines}


@pytest.mark.parametrize("part", ["softmax", "dx", "dw", "db"])
def test_gradients_are_right_in_every_size_dtype_and_layout(
    errors: dict[str, float], part: str
) -> None:
    mine = {name: worst for name, worst in errors.items() if name.startswith(part)}
    assert len(mine) >= 36
    assert all(worst <= 1 for worst in mine.values()), mine
    assert any(worst > 0 for worst in mine.values())
