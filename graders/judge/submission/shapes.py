"""Computes digests of kernels that ignore names, comments and layout.

This runs in the reading process: see `reader`.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST_TEXT = 8_000  # characters of a kernel that are shown


@dataclass(frozen=True)
class Shape:
    """A kernel: digest of its tree after renaming, its place and its text."""

    name: str
    digest: str
    line: int
    last_line: int
    text: str


def shapes(source: str) -> list[Shape]:
    """Return the kernels of a Python text in order; none if it does not parse."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    lines = source.splitlines()
    return [_shape(node, lines) for node in ast.walk(tree) if _is_kernel(node)]  # type: ignore[arg-type]


def _is_kernel(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(map(_is_jit, node.decorator_list))


def _is_jit(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(called, "attr", getattr(called, "id", "")) == "jit"


def _shape(kernel: ast.FunctionDef, lines: Sequence[str]) -> Shape:
    first, last = kernel.lineno, kernel.end_lineno or kernel.lineno
    text = "\n".join(lines[first - 1 : last])[:LONGEST_TEXT]
    name = kernel.name  # the renaming below changes it
    return Shape(name, digest(kernel), first, last, text)


def digest(kernel: ast.FunctionDef) -> str:
    """Return the digest of a kernel's tree, after renaming names by their order of appearance.

    Constants, attributes (`tl.load`) and the keywords of other functions stay. Decorators are
    removed: a list of configurations is not part of the kernel.
    """
    kernel.decorator_list = []
    names = _Names(kernel)
    for node in _in_order(kernel):
        names.change(node)
    return hashlib.sha256(ast.dump(kernel, annotate_fields=False).encode()).hexdigest()


def _in_order(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield every node, parents first and from left to right; remove docstrings on the way."""
    waiting: list[ast.AST] = [kernel]
    while waiting:
        node = waiting.pop()
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not _says_nothing(s)]  # type: ignore[attr-defined]
        yield node
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether the statement is a docstring, or a string used as a comment."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Names:
    """New names by order of appearance; Python's builtins keep their names unless rebound."""

    def __init__(self, kernel: ast.FunctionDef) -> None:
        nodes = list(ast.walk(kernel))
        bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
        bound |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._kept = set(dir(builtins)) - bound
        self._numbers: dict[str, str] = {}

    def change(self, node: ast.AST) -> None:
        """Rename what the node binds or reads."""
        if isinstance(node, ast.FunctionDef):
            node.name = self._of(node.name)
        elif isinstance(node, ast.Name):
            node.id = self._of(node.id)
        elif isinstance(node, ast.arg):
            node.arg = self._of(node.arg)

    def _of(self, name: str) -> str:
        if name in self._kept:
            return name
        return self._numbers.setdefault(name, f"_{len(self._numbers)}")
