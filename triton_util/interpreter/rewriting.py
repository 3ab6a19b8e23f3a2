"""Rewriting kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.runtime import interpreter as stock

from .control import Control
from .state import SourceLines


def rewrite(function: Any, control: Control, lines: SourceLines) -> Callable[..., Any]:
    """The function that runs in place of a kernel."""
    rewritten = stock.FunctionRewriter(function).rewrite_ast()
    lines.register(rewritten.__code__)
    return rewritten  # type: ignore[no-any-return]
