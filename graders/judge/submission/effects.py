"""Finds the objects that a statement changes without binding their names.

Examples: `CONFIGS.append(…)`, `KERNELS[size] = …` in a loop, `@registry.register` above a
function, or a decorator of the submission that stores the function in a dictionary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Effects:
    """The effects of the statements of one program."""

    def __init__(self, nodes: Iterable[ast.stmt]) -> None:
        functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
        self._functions: Mapping[str, _Function] = {
            name: _Function(node) for name, node in functions.items()
        }

    def altered(self, node: ast.stmt) -> frozenset[str]:
        """Return the names of the objects that a statement changes when it runs."""
        parts = list(_running(node))
        found = {*_altered(parts)}
        waiting, seen = list(_called(parts)), set[str]()
        while waiting:
            name = waiting.pop()
            function = self._functions.get(name)
            if function is None or name in seen:
                continue
            seen.add(name)
            found |= function.altered
            waiting += function.called
        return frozenset(found)


class _Function:
    """What a function changes and calls, when it runs or later through what it returns."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self._parts = list(ast.walk(node))

    @cached_property
    def altered(self) -> set[str]:
        own = {part.arg for part in self._parts if isinstance(part, ast.arg)}
        own |= {p.id for p in self._parts if isinstance(p, ast.Name) and _is_stored(p)}
        return {*_altered(self._parts)} - own

    @cached_property
    def called(self) -> list[str]:
        return list(_called(self._parts))


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement that run with it; of a function, only its decorators."""
    yield node
    inside = getattr(node, "decorator_list", ()) if isinstance(node, _SCOPES) else None
    for child in ast.iter_child_nodes(node) if inside is None else inside:
        yield from _running(child)


def _altered(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of objects that these parts change by methods, items and attributes."""
    for part in parts:
        changed: list[ast.expr] = []
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            method = part.value.func  # `kernel[grid](…)` is not one, and changes no kernel
            changed = [method] if isinstance(method, ast.Attribute) else []
        elif isinstance(part, ast.Assign | ast.Delete):
            changed = part.targets
        elif isinstance(part, ast.AugAssign | ast.AnnAssign):
            changed = [part.target]
        elif isinstance(part, ast.FunctionDef | ast.ClassDef):
            changed = [d.func if isinstance(d, ast.Call) else d for d in part.decorator_list]
        yield from (root for target in changed if (root := _root(target)))


def _root(node: ast.expr) -> str:
    """Return `a` for `a.b[c].d`; "" for a plain name, whose object is not changed."""
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return ""
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute | ast.Subscript):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else ""


def _called(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that are called, or used as decorators."""
    for part in parts:
        called = [part.func] if isinstance(part, ast.Call) else []
        called += getattr(part, "decorator_list", ())
        yield from (node.id for node in called if isinstance(node, ast.Name))
