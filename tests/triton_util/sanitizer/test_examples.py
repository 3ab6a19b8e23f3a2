"""The examples of docs/sanitizer.md work as they are written: workflow, hook, exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
BLOCKS = re.findall(
    r"```yaml\n(.*?)```", (ROOT / "docs" / "sanitizer.md").read_text(encoding="utf-8"), re.DOTALL
)
TEST = """import torch, triton, triton.language as tl

@triton.jit
def numbers(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.program_id(0) PLUS, mask=i < n)

def test_numbers():
    numbers[(2,)](torch.zeros(60, device="cuda"), 60, B=64)
"""
RIGHT, RACES = TEST.replace("PLUS", "* 0"), TEST.replace("PLUS", "+ 0")


def environ(**more: str) -> dict[str, str]:
    """The environment of a project that has tilewise installed."""
    without = ("TRITON_INTERPRET", "GITHUB_ACTIONS")
    kept = {name: value for name, value in os.environ.items() if name not in without}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**kept, "PATH": path, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


def finished(command: Any, folder: Path, **more: str) -> Any:
    """The finished process, with its output as one text."""
    return subprocess.run(
        command, shell=isinstance(command, str), cwd=folder, env=environ(**more),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500,
    )  # fmt: skip


def project(folder: Path, text: str) -> Path:
    """A folder with one file of tests."""
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests" / "test_kernels.py").write_text(text)
    return folder


def test_the_workflow_finds_uploads_and_annotates(tmp_path: Path) -> None:
    steps = yaml.safe_load(BLOCKS[0])["jobs"]["tilewise"]["steps"]
    [command] = [step["run"] for step in steps if step.get("run", "").startswith("pytest")]
    done = finished(command, project(tmp_path, RACES), GITHUB_ACTIONS="true")
    assert done.returncode == 1, done.stdout
    assert "::error file=tests/test_kernels.py,line=6,title=write-race::" in done.stdout
    upload = steps[-1]
    results = json.loads((tmp_path / upload["with"]["sarif_file"]).read_text())["runs"][0][
        "results"
    ]
    assert [result["ruleId"] for result in results] == ["write-race"]
    assert upload["if"] == "always()"  # the step before it has failed


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_hook_fails_for_a_finding_and_passes_without(tmp_path: Path) -> None:
    [wanted] = yaml.safe_load(BLOCKS[1])[0]["hooks"]
    manifest = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    [hook] = [hook for hook in manifest if hook["id"] == wanted["id"]]
    config = {"repos": [{"repo": "local", "hooks": [{**hook, **wanted}]}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    pre_commit = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    for text, status, said in ((RACES, 1, "write-race"), (RIGHT, 0, "Passed")):
        finished("git init -q . && git add -A", project(tmp_path, text))
        done = finished(pre_commit, tmp_path, PRE_COMMIT_HOME=str(tmp_path / "home"))
        assert done.returncode == status, done.stdout
        assert said in done.stdout


@pytest.mark.parametrize(
    ("program", "options", "status"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", (), 128 + 15),
        ("raise SystemExit(3)", ("--baseline", "known.json"), 3),
        ("raise SystemExit(3)", ("--baseline", "known.json", "--write-baseline"), 0),
        ("", ("--write-baseline",), 2),
        ("", ("--no-such-option",), 2),
        (None, (), 2),
    ],
)
def test_exit_codes(
    program: str | None, options: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    if program is not None:
        (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-m", "graders.cli.main", "run", "--no-compile", *options]
    done = finished([*command, "program.py"], tmp_path)
    assert done.returncode == status, done.stdout
