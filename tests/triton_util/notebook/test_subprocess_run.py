"""On a machine whose Triton compiles, what needs the interpreter runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("session_on_a_gpu.py")
ROOT = Path(__file__).parents[3]


def test_interpreted_measured_traced_and_caught_without_the_variable(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    paths = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT)],
        env={**environment, "PYTHONPATH": paths, "TILEWISE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout
    assert "pid 1: [2 3]" in told
    assert "result [0.0, 1.0, 2.0]" in told
    assert "bytes 24" in told
    assert "2 programs" in told
    assert "Missed" in told
    assert "Caught" in told
    assert "offset 3, in program (1, 0, 0)" in told
    assert "raised no such luck" in told
