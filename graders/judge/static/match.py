"""The read gate on `match`: a choice like `if`, and names that its patterns bind."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graders.judge.static.findings import shown, torch_computes
from graders.judge.static.values import Kind, element, join, may_be

if TYPE_CHECKING:
    from graders.judge.static.launcher import Reader


def read_match(reader: Reader, node: ast.Match) -> None:
    """Every case may be the one; what a pattern catches may be the subject or part of it."""
    subject = reader.expressions.value(node.subject)
    caught = join([subject, element(subject)])
    for case in node.cases:
        for pattern in ast.walk(case.pattern):
            if isinstance(pattern, ast.MatchValue):
                reader.expressions.value(pattern.value)
                if may_be(subject, Kind.TENSOR):
                    text = f"`case {shown(pattern)}`"
                    reader.report(torch_computes(node, text))
            elif isinstance(pattern, ast.MatchClass):
                reader.expressions.value(pattern.cls)
            name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
            if isinstance(name, str):
                reader.bind(ast.Name(name, ast.Store()), caught)
        reader.expressions.value(case.guard)
    reader.branches(*(case.body for case in node.cases))
