"""Records which arms of a kernel's branches Triton's front end visits; the others never run.

The front end also visits code after a `return` that is always reached. This code never runs
either, so it does not count.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from typing import Any

from triton.compiler.code_generator import CodeGenerator
from triton.language import tensor

TELL_SECONDS = 0.5  # between two messages about one launch that takes long to compile


class Visits:
    """Records the visited arms of one launch after the other.

    If compiling takes long, `tell` gets the arms so far, because it may be ended at any time.
    """

    def __init__(self) -> None:
        self.arms: set[int] = set()
        self.tell: Callable[[], None] = lambda: None
        self._told = time.monotonic()

    def install(self) -> None:
        """Watch every visit in this process from now on."""
        original = CodeGenerator.visit

        def visit(generator: CodeGenerator, node: ast.AST | None) -> Any:
            known = vars(generator)
            branches = known.get("branches")
            if branches is None:
                branches = known["branches"] = [_Branch(None)]
            arm = getattr(node, "arm", None)
            if arm is not None:
                branches[-1].begin(node)
                if not any(branch.returned for branch in branches):
                    self.arms.add(arm)
                self._tell_now_and_then()
            if not isinstance(node, ast.If):
                made = original(generator, node)
                _learn(branches, node, made)
                return made
            branches.append(_Branch(node))
            try:
                return original(generator, node)
            finally:
                branches.pop()

        CodeGenerator.visit = visit

    def begin(self, tell: Callable[[], None]) -> None:
        """Begin the next launch."""
        self.arms.clear()
        self.tell = tell
        self._told = time.monotonic()

    def _tell_now_and_then(self) -> None:
        now = time.monotonic()
        if now > self._told + TELL_SECONDS:
            self.tell()
            self._told = time.monotonic()


class _Branch:
    """An `if` whose condition is still unknown, or the whole function."""

    def __init__(self, node: ast.If | None) -> None:
        self.node = node
        self.decided = False  # the compiler takes only one of the two paths
        self.returned = False  # on this path, in all programs

    def begin(self, node: ast.AST | None) -> None:
        """Note that a node is visited, at which the other path may begin."""
        if self.node is not None and node in self.node.orelse[:1]:
            self.returned = False


def _learn(branches: list[_Branch], node: ast.AST | None, made: Any) -> None:
    """Update the branches after a visit, if the node is a condition of an `if` or a `return`."""
    innermost = branches[-1]
    if innermost.node is not None and innermost.node.test is node:
        innermost.decided = not isinstance(made, tensor)
    elif isinstance(node, ast.Return):
        next(branch for branch in reversed(branches) if not branch.decided).returned = True
