"""What the finding of a compiler's error shows of the compiler's own text."""

from __future__ import annotations

import pytest

from graders.judge.compiling.findings import compile_finding

DIAGNOSTIC = "<submission>:20:9: error: 'tt.load' op operand #1 must be 1-bit signless integer"


SHAPES = "Expected pointer argument to have shape {} but got {}"


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        (
            "['constexpr[1]', 'constexpr[16]', 'constexpr[64]']",
            "['constexpr[16]', 'constexpr[64]']",
        ),
        ("(1, 16, 64)", "(16, 64)"),
    ],
)
def test_an_axis_too_many_is_told_by_its_shapes(wanted: str, got: str) -> None:
    found = compile_finding({"kernel": "kernel", "text": SHAPES.format(wanted, got)}, "")
    assert "has shape (1, 16, 64), but its pointers have shape (16, 64)" in found.message
    assert "mask=cols < n_cols" in found.next_step


def test_other_shapes_that_do_not_fit_are_told_in_general() -> None:
    found = compile_finding({"kernel": "kernel", "text": SHAPES.format([16, 64], [16, 1])}, "")
    assert "has a different shape from the pointers" in found.message


def test_a_diagnostic_that_comes_once_for_each_attempt_is_shown_once() -> None:
    error = {"kernel": "copy_kernel", "whole": "error encountered during parsing", "line": 6}
    found = compile_finding(error, f"{DIAGNOSTIC}\n{DIAGNOSTIC}\n\n{DIAGNOSTIC}\n")
    assert found.original.count(DIAGNOSTIC) == 1
    assert found.line == 20
    assert "tl.load expects a mask here" in found.message
    assert "mask=mask" in found.next_step
