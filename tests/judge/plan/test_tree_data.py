"""A tree that crosses a process is the tree that was parsed."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.plan.tree_data import from_data, to_data
from tests.support.paths import ROOT

CORRECT = ROOT / "tests/course/vector_add/vector_add/correct"
ODD = """
def odd(a, /, b: tl.constexpr = 0x10, *rest, c=-1.5e300, d=1e999, **named):
    x: int = 3j + 1
    y = b"\\xff\\x00", u"ä\\ud800", ..., None, True, f"{a!r:>{b}} {c}"
    for i in range(10):
        if i is not None and not a[i:, ::2] or a < b <= c:
            continue
    return [k for k in x if k], (lambda q: q)(1), {**named, 1: 2}, 10**20
"""


@pytest.mark.parametrize("path", [None, *sorted(CORRECT.glob("*.py"))], ids=str)
def test_the_way_there_and_back_changes_nothing(path: Path | None) -> None:
    tree = ast.parse(ODD if path is None else path.read_text())
    sent = json.loads(json.dumps(to_data(tree)))
    assert ast.dump(from_data(sent)) == ast.dump(tree)


@pytest.mark.parametrize("data", [["Nothing"], ["Name", "x"], [], {"int": "x"}, {"code": "x"}, {}])
def test_other_data_is_refused(data: Any) -> None:
    with pytest.raises((ValueError, KeyError, IndexError)):
        from_data(data)


def test_the_judge_parses_nothing_of_a_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = discovery.exercise("vector_add")
    with Judge() as judge:
        judge.judge(CORRECT / "textbook.py", exercise)  # texts of ours are parsed once
        texts: list[object] = []
        real = ast.parse

        def noted(text: Any, *args: Any, **options: Any) -> Any:
            texts.append(text)
            return real(text, *args, **options)

        monkeypatch.setattr(ast, "parse", noted)
        report = judge.judge(CORRECT / "block_of_rows.py", exercise)
        monkeypatch.undo()
    assert report.verdict == "passed", report.findings
    assert texts == []
