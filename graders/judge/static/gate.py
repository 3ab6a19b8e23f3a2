"""The gate *read*: nothing but Triton in the kernels, nothing but launching in the launcher.

It looks at the syntax tree only; no code of the submission runs. What it lets through is
still compiled, run in a jail and compared, so a false alarm is worse here than a miss.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graders.judge.records import Exercise
from graders.judge.report import Finding
from graders.judge.static.findings import finding
from graders.judge.static.kernel import read_kernel
from graders.judge.static.kernel_globals import globals_of_kernels
from graders.judge.static.launcher import Reader
from graders.judge.static.scope import Scope, scope_of
from graders.judge.submission.loading import Submission
from graders.judge.submission.slices import body_is_empty

STUB_MARK = "YOUR CODE HERE"


def read_gate(submission: Submission, exercise: Exercise) -> list[Finding]:
    """Findings about a submission's text; empty when it may go on to the next gate."""
    tree = ast.parse(submission.source)
    scope = scope_of(tree)
    launcher = scope.functions.get(exercise.name)
    if launcher is None:
        return [_launcher_is_kernel(scope.kernels.get(exercise.name), exercise)]
    undecorated = list(_undecorated(tree, scope))
    if undecorated:
        return undecorated  # what else there is to say follows from it
    lines = submission.source.split("\n")
    stubs = list(_stubs(launcher, scope, lines))
    reader = Reader(tree, scope, exercise)
    for kernel in scope.kernels.values():
        reader.findings += read_kernel(kernel, scope)
    reader.findings += globals_of_kernels(tree, scope, reader.top_level)
    reader.read_launcher(launcher)
    reader.findings += [_repeated(function) for function in scope.repeated]
    reader.findings += [_two_modules(node, name) for name, node in scope.ambiguous.items()]
    found = stubs + [f for f in reader.findings if f not in stubs]
    if not stubs and not reader.launches:
        found.append(_no_kernel(launcher))
    elif not stubs and not _returns(launcher):
        found.append(_no_result(launcher))
    return _in_order(found)


def _launcher_is_kernel(kernel: ast.FunctionDef | None, exercise: Exercise) -> Finding:
    return finding(
        "no-kernel",
        kernel,
        f"{exercise.name} is itself a kernel. The exercise asks for a launcher: a plain Python "
        "function that allocates the output, launches a kernel and returns the output.",
        f"Give the kernel another name and call it from def {exercise.name}(…).",
    )


def _undecorated(tree: ast.Module, scope: Scope) -> Iterator[Finding]:
    """Plain functions that are launched on a grid, as only a kernel can be."""
    launched = {
        node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Subscript)
        and isinstance(node.func.value, ast.Name)
    }
    for name in sorted(launched & scope.functions.keys() - scope.kernels.keys()):
        yield finding(
            "kernel-not-jit",
            scope.functions[name],
            f"{name} is launched on a grid, but it is a plain Python function.",
            f"Write @triton.jit on the line above def {name}: that makes a kernel of it.",
        )


def _repeated(function: ast.FunctionDef) -> Finding:
    return finding(
        "not-triton",
        function,
        f"{function.name} has several definitions, chosen while the file is loaded.",
        "Define it once.",
    )


def _two_modules(node: ast.stmt, name: str) -> Finding:
    return finding(
        "not-triton",
        node,
        f"{name} is imported twice and stands for two different things.",
        "Give each of them a name of its own.",
    )


def _no_kernel(launcher: ast.FunctionDef) -> Finding:
    return finding(
        "no-kernel",
        launcher,
        f"{launcher.name} never launches a kernel.",
        "Write a kernel with @triton.jit and launch it: kernel[grid](…).",
    )


def _no_result(launcher: ast.FunctionDef) -> Finding:
    return finding(
        "no-result",
        launcher,
        f"{launcher.name} has no return statement with a value.",
        "Return the output tensor at the end.",
    )


def _returns(launcher: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(launcher))


def _stubs(launcher: ast.FunctionDef, scope: Scope, lines: list[str]) -> Iterator[Finding]:
    """The launcher, or a kernel that it needs, still has the body that the exercise gave it.

    Of two kernels one is enough to see its cases: a learner writes them one after the other.
    """
    wanted = [launcher, *scope.kernels.values()]
    empty = [f for f in wanted if body_is_empty(f) or _still_marked(f, scope, lines)]
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


def _still_marked(function: ast.FunctionDef, scope: Scope, lines: list[str]) -> bool:
    """The mark is followed by `pass`, and what the function is there for does not happen."""
    kernels = set(scope.kernels)
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


def _in_order(found: list[Finding]) -> list[Finding]:
    """By line, one finding per line and code: the first cause is what helps."""
    first: dict[tuple[str, int | None], Finding] = {}
    for item in found:
        first.setdefault((item.code, item.line), item)
    return sorted(first.values(), key=lambda item: item.line or 0)
