"""The interpreter's own tests, in processes in which triton interprets.

triton decides when it is imported whether it interprets; other tests need it to compile.  So each
file `suite_*.py` here runs in a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITES = sorted(HERE.glob("suite_*.py"))


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_suite(suite):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-W", "error", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-o", "python_files=suite_*.py", str(suite)],
        env={**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_there_are_suites():
    assert len(SUITES) >= 1


def test_the_same_mistakes_are_named_when_the_compiler_finds_them():
    environ = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "compile_mistakes.py")],
        env={**environ, "PYTHONPATH": str(HERE.parents[2]), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]
    assert len(results) >= 30
    wrong = [result for result in results if result["kind"] != result["expected"]]
    assert wrong == []
    assert sum(bool(result["source"]) for result in results) >= 30


def test_the_engine_says_why_it_cannot_run():
    environ = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    code = (
        "from triton_util.interpreter import EngineUnavailable, interpret\n"
        "try:\n    interpret().__enter__()\n"
        "except EngineUnavailable as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environ, "PYTHONPATH": str(HERE.parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "TRITON_INTERPRET=1" in done.stdout, done.stderr
