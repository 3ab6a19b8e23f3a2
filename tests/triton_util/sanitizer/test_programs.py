"""`tilewise run` on whole programs: each fault is found, and nothing in programs without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def environ(**more: str) -> dict[str, str]:
    without = ("TRITON_INTERPRET", "GITHUB_ACTIONS")
    kept = {name: value for name, value in os.environ.items() if name not in without}
    return {**kept, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


def run(program: Path, folder: Path, *options: str) -> tuple[Any, dict[str, Any]]:
    """The finished process of `tilewise run`, and its findings as JSON."""
    command = [sys.executable, "-m", "graders.cli.main", "run", "--json", "found.json", *options]
    done = subprocess.run(
        [*command, str(program)],
        cwd=folder,
        env=environ(XDG_CACHE_HOME=str(folder)),
        capture_output=True,
        text=True,
        timeout=500,
    )
    return done, json.loads((folder / "found.json").read_text())


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("wrong")
    done, report = run(HERE / "wrong_programs.py", folder, "--sarif", "found.sarif", "--github")
    report["sarif"] = json.loads((folder / "found.sarif").read_text())
    return done, report


def test_each_fault_is_found_though_the_program_swallows_it(wrong: Any) -> None:
    done, report = wrong
    assert done.returncode == 1, done.stderr
    text = (HERE / "wrong_programs.py").read_text()
    kernels = [line[4 : line.index("(")] for line in text.split("\n") if line.startswith("def ")]
    expected = {name for name in kernels if f"@triton.jit\ndef {name}(" in text}
    found = {finding["kernel"]: finding["code"] for finding in report["findings"]}
    assert len(expected) >= 20
    assert {name: found.get(name, "").replace("-", "_") for name in expected} == {
        name: name.split("__")[0] for name in expected
    }


def test_a_launch_that_stops_is_one_finding(wrong: Any) -> None:
    _, report = wrong
    kernels = [finding["kernel"] for finding in report["findings"]]
    assert sorted(kernels) == sorted(set(kernels))
    assert report["not_checked"] == []


def test_each_finding_has_its_line(wrong: Any) -> None:
    _, report = wrong
    lines = (HERE / "wrong_programs.py").read_text().split("\n")
    for finding in report["findings"]:
        if finding["source"]:
            assert lines[finding["line"] - 1].strip() == finding["source"], finding
    [one] = [f for f in report["findings"] if f["kernel"] == "does_not_compile__one"]
    assert "step.to(tl.int64)" in one["source"]


def test_sarif_and_annotations_say_the_same(wrong: Any) -> None:
    done, report = wrong
    results = report["sarif"]["runs"][0]["results"]
    assert {result["ruleId"] for result in results} == {f["code"] for f in report["findings"]}
    assert len(results) == len(report["findings"])
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert all(place["region"]["startLine"] >= 1 for place in places)
    errors = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert len(errors) == len(results)


def test_nothing_is_found_where_nothing_is_wrong(tmp_path: Path) -> None:
    done, report = run(HERE / "right_programs.py", tmp_path)
    assert (done.returncode, done.stdout) == (0, "all right\n"), done.stdout + done.stderr
    assert report["findings"] == []
    assert report["not_checked"] == []
    assert report["launches"] >= 25
    assert report["compiled"] >= 10


def test_a_program_that_asks_for_cuda_is_answered(tmp_path: Path) -> None:
    done, report = run(HERE / "cuda_program.py", tmp_path)
    assert (done.returncode, done.stdout) == (0, "all right\n"), done.stdout + done.stderr
    assert report["findings"] == []
    assert done.stderr.count('"cuda" is answered by the CPU') == 1
    assert "sizes was run once, with n=64" in done.stderr


GLUON = """
import torch, triton, triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def copy(x, y, n, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.program_id(0) * B + gl.arange(0, B, layout=layout)
    gl.store(y + i, gl.load(x + i, mask=i < n), mask=i < n)

@triton.jit
def assembly(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.inline_asm_elementwise("add.s32 $0, $1, 1;", "=r,r", [v], tl.int32, True, 1)
    tl.store(y + i, w)

x = torch.arange(128, dtype=torch.int32, device="cuda")
y, z = torch.empty_like(x), torch.empty_like(x)
copy[(1,)](x, y, 128, B=128)
assembly[(1,)](x, z, B=128)
assert torch.equal(x, y)
"""


def test_what_is_not_checked_fails_nothing(tmp_path: Path) -> None:
    program = tmp_path / "gluon_and_assembly.py"
    program.write_text(GLUON)
    done, report = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert {gap["kernel"] for gap in report["not_checked"]} == {"copy", "assembly"}
    assert done.stderr.count("not checked: ") == 2
    assert "That is no finding." in done.stderr


def test_a_target_that_nobody_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nothing.py").write_text("")
    command = [sys.executable, "-m", "graders.cli.main", "run", "--target", "sm_12", "nothing.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environ(), capture_output=True, text=True)
    assert done.returncode == 2
    assert "sm_90" in done.stderr


def test_without_answers_cuda_is_what_torch_makes_of_it(tmp_path: Path) -> None:
    program = tmp_path / "asks.py"
    program.write_text("import torch\nprint(torch.cuda.is_available())\n")
    done, _ = run(program, tmp_path, "--no-cuda", "--no-compile")
    assert done.stdout == "False\n", done.stderr
