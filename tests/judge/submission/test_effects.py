"""Statements that a launcher needs although they bind no name of its."""

from __future__ import annotations

import ast

import pytest

from graders.judge.submission.effects import Effects

PROGRAM = """
TABLE = {}
def keep(name):
    local = {}
    def decorate(function):
        local[name] = 1
        TABLE[name] = function
        return function
    return decorate
def indirect(): keep("x")
def harmless(x): x.append(1); y = {}; y[0] = 2
"""


@pytest.mark.parametrize(
    ("statement", "altered"),
    [
        ("CONFIGS.append(1)", {"CONFIGS"}),
        ("a.b[c].d = 1", {"a"}),
        ("a.b += 1", {"a"}),
        ("del a['x'], b", {"a"}),
        ("for size in SIZES:\n    KERNELS[size] = size", {"KERNELS"}),
        ("if FLAG:\n    with lock:\n        TABLE.update(x=1)", {"TABLE"}),
        ("@copy.register(list)\ndef _(x): return x", {"copy"}),
        ("@keep('plus')\ndef plus(): OTHER.append(1)", {"TABLE"}),
        ("@keep('plus')\nclass Plus: pass", {"TABLE"}),
        ("indirect()", {"TABLE"}),
        ("n = indirect()", {"TABLE"}),
        ("def later(): TABLE.clear()", set()),
        ("later = lambda: TABLE.clear()", set()),
        ("harmless([])", set()),
        ("add_kernel[(1,)](x, y)", set()),
        ("KERNELS['add'].launches.append(1)", {"KERNELS"}),
        ("x = TABLE['x']", set()),
        ("x = 1", set()),
    ],
)
def test_what_a_statement_alters(statement: str, altered: set[str]) -> None:
    nodes = ast.parse(PROGRAM).body
    (node,) = ast.parse(statement).body
    assert Effects([*nodes, node]).altered(node) == altered


def test_functions_that_call_each_other_come_to_an_end() -> None:
    nodes = ast.parse("def a(): b()\ndef b(): a(); X.append(1)\na()").body
    assert Effects(nodes).altered(nodes[-1]) == {"X"}
