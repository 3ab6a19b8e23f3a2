"""The interpreter's own tests, in processes in which triton interprets.

triton decides when it is imported whether it interprets; other tests need it to compile.  So each
file `tests/interpreter/suite_*.py` runs in a process of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITES = sorted((HERE / "interpreter").glob("suite_*.py"))


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_suite(suite):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-W", "error", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-o", "python_files=suite_*.py", str(suite)],
        env={**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_there_are_suites():
    assert len(SUITES) >= 1
