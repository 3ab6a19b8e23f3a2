"""What is typed wrongly at the command line, and what tables look like in 80 columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from graders.cli import main, words
from graders.cli.reports import panel
from triton_util.report import Finding, KernelResources, Report, Table, Verdict

OFFSETS = "0 to 127, 1000 to 1127, 2000 to 2127, 3000 to 3127, …"
TABLE = Table(
    "What each program stored: rows=4 columns=1000",
    ("program", "offsets", "mask", "stored", "should be"),
    (("(0, 0)", OFFSETS, "512 of 4096 lanes", OFFSETS, OFFSETS),
     ("(0, 7)", OFFSETS, "none of 4096 lanes", "nothing", OFFSETS)),
    (False, True),
)  # fmt: skip


def run(*given: str) -> tuple[int, str]:
    done = CliRunner().invoke(main.main, list(given))
    return done.exit_code, done.output


def test_a_command_that_is_not_there_is_guessed() -> None:
    code, told = run("chek", "x.py")
    assert code == 2
    assert "Did you mean check?" in told


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("")
    code, told = run("check", str(tmp_path / "kernel.py"))
    assert code == 2
    assert "There is no file" in told
    assert "Did you mean" in told
    assert "kernels.py" in told


def test_the_word_behind_a_file_may_be_an_exercise(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("")
    assert words.files_and_exercise((path, Path("softmax")), None) == ((path,), "softmax")
    assert words.files_and_exercise((path,), "softmax") == ((path,), "softmax")
    code, told = run("check", str(path), "softmx")
    assert code == 2
    assert "There is no exercise softmx. Did you mean softmax?" in told
    other = tmp_path / "softmax"
    other.write_text("")
    assert words.files_and_exercise((path, other), None) == ((path, other), None)


def printed(report: Report) -> str:
    console = Console(width=120)
    with console.capture() as captured:
        console.print(panel(report, points=False))
    return captured.get()


def test_program_tables_fit_80_columns() -> None:
    finding = Finding("interpret", "slip", "A slip", "It slips. And more.", table=TABLE)
    told = printed(Report("k.py", "copy", Verdict.FAILED, 0, 10, {}, (finding,), "A", 0.1))
    assert max(map(len, told.splitlines())) <= 80
    lines = [line.strip("│ ") for line in told.splitlines()]
    assert any(line.startswith("✗ (0, 7)") and line.endswith("1000") for line in lines), told
    assert max(map(len, TABLE.lines(76))) <= 76


def test_what_passed_says_what_is_good_and_what_comes_next() -> None:
    made = (KernelResources("add_kernel", 90, 26, 0, 0),)
    report = Report("k.py", "vector_add", Verdict.PASSED, 10, 10, {}, (), "A", 1.0, 38, 38, made)
    told = printed(report)
    for said in ("✓ All 38 cases are correct", "add_kernel  26 registers", "Next: copy"):
        assert said in told, told


@pytest.mark.parametrize("width", [40, 60, 76])
def test_wrapped_tables_lose_no_word(width: int) -> None:
    told = " ".join(TABLE.lines(width))
    for word in ("4096", "3127,", "nothing", "program"):
        assert word in told
