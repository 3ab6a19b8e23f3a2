"""Who is who at the top level: imported modules, kernels, plain functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass
class Scope:
    """Names of the top level. `aliases` maps a name to the dotted path that it stands for."""

    aliases: dict[str, str] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    kernels: dict[str, ast.FunctionDef] = field(default_factory=dict)
    repeated: list[ast.FunctionDef] = field(default_factory=list)
    ambiguous: dict[str, ast.stmt] = field(default_factory=dict)

    def dotted(self, node: ast.AST) -> str | None:
        """`tl.math.exp` → "triton.language.math.exp"; None where the root is no module."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.aliases:
            return None
        return ".".join([self.aliases[node.id], *reversed(parts)])


def import_aliases(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that an import binds, each with its dotted path."""
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return {(a.asname or a.name): f"{module}.{a.name}" for a in node.names}
    found = {}
    for alias in node.names:
        root = alias.name.split(".")[0]
        found[alias.asname or root] = alias.name if alias.asname else root
    return found


def scope_of(tree: ast.Module) -> Scope:
    """Read the imports and definitions of a sliced submission, compound statements included."""
    scope = Scope()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _add_import(node, scope)
    for node in _top_level(tree.body):
        if isinstance(node, ast.FunctionDef):
            kind = scope.kernels if is_kernel(node, scope) else scope.functions
            if node.name in scope.kernels or node.name in scope.functions:
                scope.repeated.append(node)
            kind[node.name] = node
    for node in _top_level(tree.body):
        _jit_by_call(node, scope)
    return scope


def _add_import(node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    """One name may be imported from several places of one package, as in try/except."""
    for name, path in import_aliases(node).items():
        known = scope.aliases.setdefault(name, path)
        if known.split(".")[0] != path.split(".")[0] and name != "*":
            scope.ambiguous[name] = node
        scope.aliases[name] = path


def _top_level(body: list[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if isinstance(node, ast.If | ast.Try | ast.With):
            for name in ("body", "orelse", "finalbody"):
                found += _top_level(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                found += _top_level(handler.body)
    return found


def is_kernel(node: ast.FunctionDef, scope: Scope) -> bool:
    """Whether one of the decorators is triton.jit."""
    return any(
        scope.dotted(d.func if isinstance(d, ast.Call) else d) == "triton.jit"
        for d in node.decorator_list
    )


def _jit_by_call(node: ast.stmt, scope: Scope) -> None:
    """`kernel = triton.jit(body)` makes a kernel of a plain function."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
        return
    for call in ast.walk(node.value):
        if isinstance(call, ast.Call) and scope.dotted(call.func) == "triton.jit":
            for argument in call.args:
                if isinstance(argument, ast.Name) and argument.id in scope.functions:
                    function = scope.functions[argument.id]
                    for target in node.targets:
                        if isinstance(target, ast.Name):
                            scope.kernels[target.id] = function
