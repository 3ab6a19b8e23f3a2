"""What the names in a kernel or launcher are for, as far as its text shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

POINTED = {"load", "store", "atomic_add", "atomic_max", "atomic_xchg", "atomic_cas"}


def is_kernel(function: ast.FunctionDef) -> bool:
    """Whether Triton compiles it."""
    return any("jit" in ast.unparse(decorator) for decorator in function.decorator_list)


def called(call: ast.Call) -> str:
    """The last word of what is called."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """All names in these trees."""
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def kinds_of(function: ast.FunctionDef, in_kernel: bool) -> Iterator[tuple[str, str]]:
    """Yield the parameters and variables of a function, each with its kind."""
    pointers = _pointers(function)
    for parameter in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        name, kind = parameter.arg, "parameter"
        if not in_kernel:
            pass
        elif parameter.annotation and "constexpr" in ast.unparse(parameter.annotation):
            kind = "constexpr"
        elif name in pointers:
            kind = "pointer"
        elif "stride" in name:
            kind = "stride"
        yield name, kind
    for node in sorted(_assignments(function), key=lambda one: one.lineno):
        for name in sorted(names_in(node.targets)):
            mask = any(isinstance(part, ast.Compare) for part in ast.walk(node.value))
            kind = "pointer" if name in pointers else "mask" if mask else "variable"
            yield name, kind


def _assignments(function: ast.FunctionDef) -> Iterator[ast.Assign]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and all(
            isinstance(target, ast.Name | ast.Tuple) for target in node.targets
        ):
            yield node


def _pointers(function: ast.FunctionDef) -> set[str]:
    """The names that loads and stores begin with, and what those are computed from."""
    found = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and called(node) in POINTED and node.args
        if (name := _leftmost(node.args[0]))
    }
    for _ in range(3):
        for node in _assignments(function):
            if names_in(node.targets) & found and (name := _leftmost(node.value)):
                found.add(name)
    return found


def _leftmost(node: ast.expr) -> str:
    while isinstance(node, ast.BinOp):
        node = node.left
    return node.id if isinstance(node, ast.Name) else ""


def first_lines(function: ast.FunctionDef) -> dict[str, int]:
    """The line at which each variable is first assigned."""
    lines: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return lines
