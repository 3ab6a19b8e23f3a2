"""The decisions of a kernel: conditions, loops, accesses to memory and `tl.program_id`.

Each has two sides, and a number that combines the kernel's number with the place of its node in the
canonical text, as arms have (`plan.arms`). The interpreter notes which sides the cases showed (see
`triton_util.interpreter.control.sides`), and `running.reached` finds those that no case showed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from graders.judge.plan.arms import PLACES

CONDITION, LOOP, ACCESS, AXIS = "condition", "loop", "access", "axis"
# What the interpreter calls there; it counts the rounds of a loop by itself.
_NOTED_BY = {CONDITION: "tested", LOOP: "entered", ACCESS: "looked", AXIS: "looked"}


def number_decisions(function: ast.FunctionDef, nodes: Sequence[ast.AST], kernel: int) -> None:
    """Give each decision its number, as the attribute `decides`; `nodes` are in order."""
    for place, kind in decisions(function, nodes).items():
        nodes[place].decides = _NOTED_BY[kind], kernel * PLACES + place  # type: ignore[attr-defined]


def decisions(function: ast.FunctionDef, nodes: Sequence[ast.AST]) -> dict[int, str]:
    """The kind of each decision, by the place of its node in `nodes`."""
    found: dict[int, str] = {}  # by the identity of a node
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp):
            found[id(node.test)] = CONDITION
        elif isinstance(node, ast.For | ast.While):
            found[id(node)] = LOOP
        elif isinstance(node, ast.Call) and (kind := _kind_of_call(node)):
            found.setdefault(id(node), kind)
    return {place: found[id(node)] for place, node in enumerate(nodes) if id(node) in found}


def _kind_of_call(call: ast.Call) -> str:
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name == "program_id":
        return AXIS
    return ACCESS if name in ("load", "store") or name.startswith("atomic_") else ""
