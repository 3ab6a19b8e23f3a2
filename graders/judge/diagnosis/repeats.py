"""One mistake, told once: what the compiler and the interpreter say of the same line."""

from __future__ import annotations

from collections.abc import Sequence

from graders.judge.report import Finding


def without_repeats(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, without the interpreter's error in a line that the compiler has refused."""
    refused = {found.line for found in findings if found.code == "compile-error"} - {None}
    return [
        found for found in findings if found.code != "kernel-error" or found.line not in refused
    ]
