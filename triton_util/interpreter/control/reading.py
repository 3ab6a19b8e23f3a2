"""Facts about the statements of a kernel: which names they assign, whether they leave a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from triton_util.interpreter.operations.language import CONTROL


def statements_in(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """Every node below these, except those inside nested functions."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            continue
        yield node
        yield from statements_in(ast.iter_child_nodes(node))


def has_return(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Return) for inner in statements_in([node]))


def leaves_loop(nodes: Iterable[ast.AST]) -> bool:
    """Whether a break or continue in these nodes belongs to the loop around them."""
    for node in nodes:
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        if isinstance(node, (ast.For, ast.While, ast.FunctionDef, ast.Lambda)):
            continue
        if leaves_loop(ast.iter_child_nodes(node)):
            return True
    return False


def targets(node: ast.AST) -> list[str]:
    return [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]


def assigned(nodes: Iterable[ast.AST]) -> list[str]:
    """The variables that the statements may bind, in order, without the rewriter's own."""
    names: dict[str, None] = {}
    for node in statements_in(nodes):
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""
        if name and not name.startswith(CONTROL):
            names[name] = None
    return list(names)
