"""Decides from its text alone whether a function is still the exercise's stub."""

from __future__ import annotations

import ast

STUB_MARK = "YOUR CODE HERE"
Functions = dict[str, ast.FunctionDef]


def definitions(tree: ast.Module) -> tuple[Functions, Functions]:
    """Plain functions and kernels by name. A kernel has a decorator that ends in `jit`."""
    functions: Functions = {}
    kernels: Functions = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            (kernels if _is_kernel(node) else functions)[node.name] = node
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _last_name(node.func) == "jit":
            for argument in node.args:  # kernel = triton.jit(body)
                if isinstance(argument, ast.Name) and argument.id in functions:
                    kernels[argument.id] = functions[argument.id]
    return functions, kernels


def _is_kernel(node: ast.FunctionDef) -> bool:
    decorators = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(_last_name(decorator) == "jit" for decorator in decorators)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def untouched(
    launcher: ast.FunctionDef, kernels: Functions, lines: list[str]
) -> list[ast.FunctionDef]:
    """The launcher and kernels that still have the exercise's body.

    `lines` are the lines of their text. If one of two kernels is written, neither counts as
    untouched: a learner writes them one after the other and wants to see the results of the first.
    """
    wanted = [launcher, *kernels.values()]
    empty = [f for f in wanted if body_is_empty(f) or _still_marked(f, kernels, lines)]
    if launcher.decorator_list:  # `@singledispatch`: other functions do the work
        empty = [function for function in empty if function is not launcher]
    if any(_stores(kernel) for kernel in wanted[1:] if kernel not in empty):
        empty = empty[: int(launcher in empty)]
    return empty


def nothing_yet(function: str, launcher: str) -> tuple[str, str, str]:
    """Title, message and next step for a stub."""
    return (
        "There is nothing here yet",
        f"`{function}` has no code of yours yet.",
        f"Write the part marked `# {STUB_MARK}`, run its cell, and check again; "
        f'`hint("{launcher}")` helps.',
    )


def body_is_empty(function: ast.FunctionDef) -> bool:
    """Whether the body is only a docstring, `pass`, `...` or an empty return."""
    for node in function.body:
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        nothing = isinstance(node, ast.Return) and (
            node.value is None
            or (isinstance(node.value, ast.Constant) and node.value.value is None)
        )
        if not (constant or nothing or isinstance(node, ast.Pass | ast.Raise)):
            return False
    return True


def _stores(kernel: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr.startswith(("store", "atomic_"))
        for node in ast.walk(kernel)
    )


def _still_marked(function: ast.FunctionDef, kernels: Functions, lines: list[str]) -> bool:
    """Whether the mark is followed by `pass`, and the function does not do its task."""
    if _stores(function):
        return False
    for node in ast.walk(function):
        launched = node.value if isinstance(node, ast.Subscript) else None
        if isinstance(launched, ast.Name) and launched.id in kernels:
            return False
        if isinstance(node, ast.Return) and node.value is not None and function.name in kernels:
            return False
    marks = [n for n in range(function.lineno, function.end_lineno or 0) if STUB_MARK in lines[n]]
    passes = {n.lineno for n in ast.walk(function) if isinstance(n, ast.Pass)}
    return any(passes & {mark + 2, mark + 3} for mark in marks)
