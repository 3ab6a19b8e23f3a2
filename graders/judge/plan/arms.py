"""The arms of a kernel's branches: which of them ran, and which of them Triton compiled.

Each arm has a number that is the same in every process that has the plan. It combines the number of
the kernel with the place of the arm's first node in the kernel's canonical text. The interpreter
records the arms that run, and Triton's front end those that it visits (`compiling.visits`). The
judge compares the two (`running.unseen`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

PLACES = 1 << 20  # more nodes than a kernel has
RAN = "ran here"  # a name that no source can spell


def number_arms(function: ast.FunctionDef, nodes: Sequence[ast.AST], kernel: int) -> None:
    """Give the first node of each arm its number, as the attribute `arm`; `nodes` are in order."""
    first = {id(node) for node in _arms(function)}
    for place, node in enumerate(nodes):
        if id(node) in first:
            node.arm = kernel * PLACES + place  # type: ignore[attr-defined]


def noting(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function, changed to call RAN with the number of each arm that it reaches."""
    noted: ast.FunctionDef = ast.fix_missing_locations(_Noting().visit(function))
    return noted


class _Noting(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> Any:
        """Pass an expression's value through RAN; insert a call of RAN before a statement."""
        made = super().generic_visit(node)
        if not hasattr(node, "arm"):
            return made
        given = [ast.Constant(node.arm), *([made] if isinstance(made, ast.expr) else [])]
        call = ast.copy_location(ast.Call(ast.Name(RAN, ast.Load()), given, []), node)
        return (
            call if isinstance(made, ast.expr) else [ast.copy_location(ast.Expr(call), node), made]
        )


def _arms(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the first node of all code that runs only if a branch, a loop or a call reaches it."""
    for node in ast.walk(function):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block[0]
                yield from (after for before, after in pairwise(block) if _may_leave(before))
        if isinstance(node, ast.IfExp):
            yield from (node.body, node.orelse)
        elif isinstance(node, ast.BoolOp):
            yield from node.values[1:]
        elif isinstance(node, ast.ListComp):
            yield node.elt


def _may_leave(statement: ast.stmt) -> bool:
    """Whether the code after the statement may be skipped."""
    leaves = (ast.Return, ast.Break, ast.Continue)
    return any(isinstance(node, leaves) for node in ast.walk(statement))
