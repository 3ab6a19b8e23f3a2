"""What the text of a submission shows before anything of it runs.

Is the launcher there, is it still the stub, is a function launched that is no kernel? What the
launcher does is found out by calling it: see `capture`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graders.judge.records import Exercise
from graders.judge.report import Finding
from graders.judge.static.findings import finding
from graders.judge.submission.loading import Submission
from graders.judge.submission.slices import body_is_empty

STUB_MARK = "YOUR CODE HERE"
Functions = dict[str, ast.FunctionDef]


def read_gate(submission: Submission, exercise: Exercise) -> list[Finding]:
    """Findings about a submission's text; empty when its launcher may be called."""
    tree = ast.parse(submission.source)
    functions, kernels = _definitions(tree)
    launcher = functions.get(exercise.name)
    if launcher is None:
        named = exercise.name in kernels
        return [_launcher_is_kernel(kernels[exercise.name], exercise)] if named else []
    undecorated = list(_undecorated(tree, functions))
    if undecorated:
        return undecorated  # what else there is to say follows from it
    lines = submission.source.split("\n")
    return list(_stubs(launcher, kernels, lines))


def _definitions(tree: ast.Module) -> tuple[Functions, Functions]:
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


def _launcher_is_kernel(kernel: ast.FunctionDef, exercise: Exercise) -> Finding:
    return finding(
        "no-kernel",
        kernel,
        f"{exercise.name} is itself a kernel. The exercise asks for a launcher: a plain Python "
        "function that allocates the output, launches a kernel and returns the output.",
        f"Give the kernel another name and call it from def {exercise.name}(…).",
    )


def _undecorated(tree: ast.Module, functions: Functions) -> Iterator[Finding]:
    """Plain functions that are launched on a grid, as only a kernel can be."""
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
                f"Write @triton.jit on the line above def {name}: that makes a kernel of it.",
            )


def _stubs(launcher: ast.FunctionDef, kernels: Functions, lines: list[str]) -> Iterator[Finding]:
    """Findings for the launcher and the kernels whose body is still the exercise's.

    Of several kernels one that is written is enough: a learner writes them one after the other.
    """
    wanted = [launcher, *kernels.values()]
    empty = [f for f in wanted if body_is_empty(f) or _still_marked(f, kernels, lines)]
    if any(_stores(kernel) for kernel in wanted[1:] if kernel not in empty):
        empty = empty[: int(launcher in empty)]
    for function in empty:
        yield finding(
            "stub-unchanged",
            function,
            f"{function.name} has no code of yours yet.",
            f"Write the part marked `# {STUB_MARK}` and check again; hint() helps.",
        )


def _stores(kernel: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr.startswith(("store", "atomic_"))
        for node in ast.walk(kernel)
    )


def _still_marked(function: ast.FunctionDef, kernels: Functions, lines: list[str]) -> bool:
    """Whether `pass` follows the mark, and the function stores, launches and returns nothing."""
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
