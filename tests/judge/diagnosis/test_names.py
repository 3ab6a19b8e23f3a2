"""The judge names no mistake of the course: it ranks what the records say."""

from __future__ import annotations

import ast

from graders.authoring.lint.house import OF_EVERY_EXERCISE
from graders.judge import discovery
from tests.support.paths import ROOT


def test_the_judge_names_no_misconception_of_the_course() -> None:
    codes = {m.code for record in discovery.exercises().values() for m in record.misconceptions}
    named = {
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in (ROOT / "graders" / "judge").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in codes - OF_EVERY_EXERCISE
    }
    assert named == set()
