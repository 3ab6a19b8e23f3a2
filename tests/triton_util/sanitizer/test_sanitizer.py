"""`tilewise run` and `pytest --tilewise` on small programs, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from triton_util.sanitizer import reports
from triton_util.sanitizer.findings import Findings, read_baseline

ROOT = Path(__file__).resolve().parents[3]
KERNELS = """import sys
import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def copy_kernel(x_ptr, output_ptr, n, step, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * step + tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def numbers_kernel(output_ptr, n, step, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * step + tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, offsets * 0 + tl.program_id(0), mask=offsets < n)


@triton.jit
def unmasked_kernel(x_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets))


def right():
    x = torch.randn(100, device=DEVICE)
    output = torch.empty_like(x)
    copy_kernel[(4,)](x, output, 100, 32, BLOCK_SIZE=32)
    assert torch.equal(output, x)


def races():
    numbers_kernel[(4,)](torch.zeros(100, dtype=torch.int32), 100, 24, BLOCK_SIZE=32)


def leaves_some_out():
    x = torch.randn(100, device=DEVICE)
    copy_kernel[(3,)](x, torch.empty_like(x), 100, 32, BLOCK_SIZE=32)


def fills_the_rest_by_torch():
    x = torch.randn(100, device=DEVICE)
    output = torch.empty_like(x)
    copy_kernel[(3,)](x, output, 100, 32, BLOCK_SIZE=32)
    output[96:] = 0.0


def runs_out_of_bounds():
    x = torch.randn(100, device=DEVICE)
    unmasked_kernel[(4,)](x, torch.empty_like(x), BLOCK_SIZE=32)

"""
SCRIPT = KERNELS + "\nfor name in sys.argv[1:]:\n    globals()[name]()\nprint('done')\n"


def environ(**more: str) -> dict[str, str]:
    inherited = {
        k: v for k, v in os.environ.items() if k not in ("TRITON_INTERPRET", "GITHUB_ACTIONS")
    }
    return {**inherited, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


def run(folder: Path, *arguments: str, options: tuple[str, ...] = (), **more: str):
    (folder / "program.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "graders.cli.main", "run", *options, "program.py", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environ(**more), capture_output=True, text=True, timeout=400
    )


def test_a_right_program_ends_as_it_would(tmp_path: Path) -> None:
    done = run(tmp_path, "right", "fills_the_rest_by_torch")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "0 findings in 2 launches" in done.stderr


def test_one_report_at_the_end_names_file_and_line(tmp_path: Path) -> None:
    done = run(tmp_path, "races", "races", "leaves_some_out")
    assert done.returncode == 1
    assert done.stdout == "done\n"
    line = SCRIPT.splitlines().index(
        "    tl.store(output_ptr + offsets, offsets * 0 + tl.program_id(0), mask=offsets < n)"
    )
    assert f"program.py:{line + 1} write-race in numbers_kernel (2 times)" in done.stderr
    assert "never-stored" in done.stderr
    assert "4 of 100 elements of 'output_ptr'" in done.stderr
    assert "2 findings in 3 launches" in done.stderr


def test_what_may_not_go_on_ends_the_program_with_a_report(tmp_path: Path) -> None:
    done = run(tmp_path, "runs_out_of_bounds")
    assert done.returncode == 1
    assert "done" not in done.stdout
    assert "out-of-bounds-load in unmasked_kernel" in done.stderr
    assert "Traceback" not in done.stderr


def test_annotations_for_github(tmp_path: Path) -> None:
    done = run(tmp_path, "races", GITHUB_ACTIONS="true")
    [line] = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert line.startswith("::error file=program.py,line=")
    assert ",title=write-race::Program" in line


def test_what_the_baseline_knows_does_not_fail(tmp_path: Path) -> None:
    options = ("--baseline", "known.json")
    assert run(tmp_path, "races", options=(*options, "--write-baseline")).returncode == 0
    again = run(tmp_path, "races", options=options)
    assert again.returncode == 0, again.stderr
    assert "1 known from the baseline" in again.stderr
    assert run(tmp_path, "races", "leaves_some_out", options=options).returncode == 1


def test_the_exit_status_of_the_program_is_kept(tmp_path: Path) -> None:
    assert run(tmp_path, "no_such_function").returncode == 1
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(7)\n")
    command = [sys.executable, "-m", "graders.cli.main", "run", "ends.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environ(), capture_output=True, timeout=400)
    assert done.returncode == 7


def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text(json.dumps({"no": "baseline"}))
    with pytest.raises(ValueError, match="no baseline"):
        read_baseline(tmp_path / "known.json")


def test_a_gap_of_the_engine_is_no_finding() -> None:
    from triton_util.interpreter.faults import Fault

    findings = Findings()
    findings.add(vars(Fault("not-interpreted", "It is ours.", filename="a.py", line=3)))
    assert findings.new == []
    assert "not checked: a.py:3" in reports.text(findings)


def pytest_in(folder: Path, tests: str, *options: str):
    (folder / "test_program.py").write_text(KERNELS + tests)
    installed = any(entry.name == "tilewise" for entry in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "triton_util.sanitizer.pytest_plugin")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin]
    return subprocess.run(
        [*command, *options], cwd=folder, env=environ(), capture_output=True, text=True, timeout=400
    )


def test_the_plug_in_fails_a_run_whose_tests_pass(tmp_path: Path) -> None:
    tests = "\ndef test_right():\n    right()\n\ndef test_races():\n    races()\n"
    done = pytest_in(tmp_path, tests, "--tilewise")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert "write-race in numbers_kernel" in done.stdout
    assert "1 finding in 2 launches" in done.stdout


def test_the_plug_in_reports_a_launch_that_was_stopped(tmp_path: Path) -> None:
    tests = "\ndef test_bounds():\n    runs_out_of_bounds()\n\ndef test_right():\n    right()\n"
    done = pytest_in(tmp_path, tests, "--tilewise")
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "out-of-bounds-load in unmasked_kernel" in done.stdout


def test_the_plug_in_knows_a_baseline(tmp_path: Path) -> None:
    tests = "\ndef test_races():\n    races()\n"
    known = ("--tilewise", "--tilewise-baseline", "known.json")
    assert pytest_in(tmp_path, tests, *known, "--tilewise-write-baseline").returncode == 0
    again = pytest_in(tmp_path, tests, *known)
    assert again.returncode == 0, again.stdout
    assert "1 known from the baseline" in again.stdout


def test_without_the_option_nothing_happens(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "\ndef test_nothing():\n    pass\n")
    assert "tilewise" not in done.stdout.replace("--tilewise", "")
