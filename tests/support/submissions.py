"""Submissions made of text by the test itself, without the process that reads files."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from graders.judge.plan.code import by_place
from graders.judge.plan.steps import Kernel
from graders.judge.submission.canonical import canonical
from graders.judge.submission.loading import Submission


def submission(text: str, launcher: str, name: str = "s.py") -> Submission:
    """The whole text as a submission with this launcher."""
    return Submission(name, text, launcher, (), tuple(canonical(ast.parse(text).body)))


def with_codes(kernels: Sequence[Kernel], text: str) -> list[Kernel]:
    """The kernels with their canonical code, which comes from this text."""
    known = by_place(tuple(canonical(ast.parse(text).body)))
    return [replace(kernel, code=known.get((kernel.line, kernel.name))) for kernel in kernels]
