"""Findings of the gate *read*: the title, and the message about the line."""

from __future__ import annotations

import ast

from triton_util.report import Finding

TITLES = {
    "not-triton": "This is not Triton",
    "no-kernel": "No kernel is launched",
    "kernel-not-jit": "A kernel needs @triton.jit",
}


def finding(code: str, node: ast.AST | None, message: str, next_step: str = "") -> Finding:
    """Return a finding of this gate at the line of `node`."""
    line = getattr(node, "lineno", None)
    return Finding("read", code, TITLES[code], message, line, None, next_step)


def shown(node: ast.AST, width: int = 60) -> str:
    """Return the source of an expression, short enough for a message."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= width else f"{text[: width - 1]}…"


def not_triton(node: ast.AST, message: str, next_step: str = "") -> Finding:
    """Return the finding for something that kernels cannot contain."""
    return finding("not-triton", node, message, next_step)
