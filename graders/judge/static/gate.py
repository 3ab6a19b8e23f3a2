"""Checks the tree of a submission before any of it runs, in the reading process.

Is the launcher there, is it still the stub, is a function launched that is not a kernel? What the
launcher does is found by calling it: see `capture`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graders.judge.static.findings import finding
from triton_util.notebook.stubs import Functions, definitions, nothing_yet, untouched
from triton_util.report import Finding


def read_gate(tree: ast.Module, source: str, name: str) -> list[Finding]:
    """Return findings about a submission; empty if its launcher `name` may be called.

    `source` is the text, to which the lines of the tree refer.
    """
    functions, kernels = definitions(tree)
    launcher = functions.get(name)
    if launcher is None:
        return [_launcher_is_kernel(kernels[name], name)] if name in kernels else []
    undecorated = list(_undecorated(tree, functions))
    if undecorated:
        return undecorated  # all other findings would follow from it
    return list(_stubs(launcher, kernels, source.split("\n")))


def _launcher_is_kernel(kernel: ast.FunctionDef, name: str) -> Finding:
    return finding(
        "no-kernel",
        kernel,
        f"{name} is itself a kernel. The exercise asks for a launcher: a plain Python "
        "function that allocates the output, launches a kernel and returns the output.",
        f"Give the kernel another name and call it from def {name}(…).",
    )


def _undecorated(tree: ast.Module, functions: Functions) -> Iterator[Finding]:
    """Yield a finding for each plain function that is launched on a grid like a kernel."""
    launched = {
        node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Subscript)
        and isinstance(node.func.value, ast.Name)
    }
    made = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for name in sorted((launched & functions.keys()) - made):
        if not functions[name].decorator_list:
            yield finding(
                "kernel-not-jit",
                functions[name],
                f"{name} is launched on a grid, but it is a plain Python function.",
                f"Write @triton.jit on the line above def {name}: that makes it a kernel.",
            )


def _stubs(launcher: ast.FunctionDef, kernels: Functions, lines: list[str]) -> Iterator[Finding]:
    """Yield a finding if the launcher, or a kernel that it needs, is still the exercise's stub."""
    for function in untouched(launcher, kernels, lines):
        title, message, step = nothing_yet(function.name, launcher.name)
        yield Finding("read", "stub-unchanged", title, message, function.lineno, None, step)
