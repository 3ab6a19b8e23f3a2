"""The read gate's rule for what a kernel takes from around it: constants, kernels, modules.

Triton's compiler says the same, but a launcher can tell whether it is being compiled or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from graders.judge.report import Finding
from graders.judge.static import names as names
from graders.judge.static.findings import not_triton
from graders.judge.static.kernel import local_names
from graders.judge.static.scope import Scope, is_kernel
from graders.judge.static.values import Bag, Kind, Member, Value, options

CHANGING = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
PLAIN_CALLS = names.COUNTING_BUILTINS | {"len", "str", "hasattr", "isinstance"}
PLAIN_MODULES = ("triton.", "math.", "torch.")


def globals_of_kernels(
    tree: ast.Module, scope: Scope, values: Mapping[str, Value]
) -> Iterator[Finding]:
    """Findings about names that kernels use and that are bound to more than constants.

    `values` are the names of the top level, as the reader of the launcher knows them.
    """
    changing = _may_change(tree, scope)
    for kernel in scope.kernels.values():
        for node in _outer_names(kernel):
            value = values.get(node.id)
            if value is None or node.id in scope.kernels or node.id in scope.functions:
                continue
            if node.id in changing or not _is_constant(value):
                yield _finding(node, kernel)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and not is_kernel(function, scope):
            yield from _captured(function, scope)


def _captured(function: ast.FunctionDef, scope: Scope) -> Iterator[Finding]:
    """A kernel inside a function sees that function's variables, tensors among them."""
    bound = local_names(function)
    for inner in ast.walk(function):
        if isinstance(inner, ast.FunctionDef) and is_kernel(inner, scope):
            for node in _outer_names(inner):
                if node.id in bound:
                    yield _finding(node, inner)


def _outer_names(kernel: ast.FunctionDef) -> Iterator[ast.Name]:
    local = local_names(kernel)
    decorators = {id(n) for d in kernel.decorator_list for n in ast.walk(d)}
    for node in ast.walk(kernel):
        if not isinstance(node, ast.Name) or id(node) in decorators:
            continue
        if isinstance(node.ctx, ast.Load) and node.id not in local:
            yield node


def _may_change(tree: ast.Module, scope: Scope) -> set[str]:
    """Names that the top level binds to what could be filled later: lists, dicts, objects."""
    found = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is not None and any(_changing(part, scope) for part in ast.walk(value)):
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
    return found


def _changing(node: ast.AST, scope: Scope) -> bool:
    if not isinstance(node, ast.Call):
        return isinstance(node, CHANGING)
    plain = isinstance(node.func, ast.Name) and node.func.id in PLAIN_CALLS
    return not plain and not (scope.dotted(node.func) or "").startswith(PLAIN_MODULES)


def _is_constant(value: Value) -> bool:
    """Numbers, texts, dtypes, kernels, and tuples of them."""
    return all(
        all(map(_is_constant, option.items)) if isinstance(option, Bag) else _plain(option)
        for option in options(value)
    )


def _plain(value: Value) -> bool:
    in_language = isinstance(value, Member) and value.path.startswith(("triton.", "torch.", "math"))
    return value in (Kind.PLAIN, Kind.KERNEL) or in_language


def _finding(node: ast.Name, kernel: ast.FunctionDef) -> Finding:
    return not_triton(
        node,
        f"The kernel {kernel.name} uses {node.id} from outside, and it is no constant.",
        f"Pass {node.id} as an argument, or make it a number: {node.id} = tl.constexpr(…).",
    )
