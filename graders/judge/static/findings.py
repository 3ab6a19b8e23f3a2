"""Findings of the gate *read*: the title, and what a tutor says about the line."""

from __future__ import annotations

import ast

import torch

from graders.judge.report import Finding
from graders.judge.submission.refusals import did_you_mean

TITLES = {
    "not-triton": "This is not Triton",
    "torch-computes": "torch computes here, not the kernel",
    "no-kernel": "No kernel is launched",
    "stub-unchanged": "There is nothing here yet",
    "no-result": "The launcher returns nothing",
    "kernel-without-grid": "The kernel is called without a grid",
    "kernel-not-jit": "A kernel needs @triton.jit",
    "no-such-method": "A tensor has no method of that name",
}


def finding(code: str, node: ast.AST | None, message: str, next_step: str = "") -> Finding:
    """A finding of this gate at the line of `node`."""
    line = getattr(node, "lineno", None)
    return Finding("read", code, TITLES[code], message, line, None, next_step)


def shown(node: ast.AST, width: int = 60) -> str:
    """The source of an expression, short enough for a message."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= width else f"{text[: width - 1]}…"


def torch_computes(node: ast.AST, what: str) -> Finding:
    """torch (or numpy, or Python) does what the kernel is there for."""
    return finding(
        "torch-computes",
        node,
        f"{what} computes on tensor data in the launcher.",
        "Let the kernel do it: the launcher only allocates, looks at shapes and strides, and "
        "launches.",
    )


def no_such_method(node: ast.AST, name: str) -> Finding:
    """A misspelt method of a tensor."""
    guess = did_you_mean(name, dir(torch.Tensor))
    return finding(
        "no-such-method",
        node,
        f"`{shown(node)}`: tensors have no `{name}`. {guess}".strip(),
        "Mend the name and check again.",
    )


def not_triton(node: ast.AST, message: str, next_step: str = "") -> Finding:
    """Something that has no place in a kernel or a launcher."""
    return finding("not-triton", node, message, next_step)
