"""docs/sanitizer.md: each code of a finding has a row, and each row names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from triton_util.interpreter.faults import FAULT_CODES

ROOT = Path(__file__).resolve().parents[3]
TESTS = ROOT / "tests" / "triton_util"
DOCUMENT = (ROOT / "docs" / "sanitizer.md").read_text(encoding="utf-8")
ROWS = [
    line for line in DOCUMENT.split("\n") if line.startswith("| ") and not line.startswith("| code")
]
WRONG = (TESTS / "sanitizer" / "wrong_programs.py").read_text(encoding="utf-8")


def rows_with_tests() -> list[list[str]]:
    """The cells of the two tables whose last column names tests."""
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in ROWS]
    return [row for row in cells if len(row) in (3, 6)]


def exists(name: str) -> bool:
    """Whether `file.py::test` or a launch of `wrong_programs` exists."""
    file, _, test = name.rpartition("::")
    if not file:
        return re.search(rf"^def {name}\(", WRONG, re.MULTILINE) is not None
    [path] = TESTS.rglob(file)
    return re.search(rf"^def {test}\(", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


@pytest.mark.parametrize("row", rows_with_tests(), ids=lambda row: row[0][:40])
def test_each_row_names_tests_that_exist(row: list[str]) -> None:
    named = re.findall(r"`([^`]+)`", row[-1])
    we_find_it = len(row) == 3 or row[1].startswith(("yes", "no: *not checked*"))
    assert named or not we_find_it, row
    assert [name for name in named if not exists(name)] == []


def test_each_code_has_a_row() -> None:
    text = " ".join(row[0] for row in rows_with_tests() if len(row) == 3)
    documented = {code.lstrip("-") for code in re.findall(r"`([a-z-]+)`", text)}
    codes = {code.removeprefix("out-of-bounds-") for code in FAULT_CODES}
    documented = {code.removeprefix("out-of-bounds-") for code in documented}
    assert codes - documented == {"not-interpreted", "order-dependent"}  # not findings of a run
    assert "does-not-compile" in documented
