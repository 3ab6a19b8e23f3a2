"""The source of a kernel: a tree from the caller, or what `inspect` finds in its file."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

_known: WeakKeyDictionary[Any, tuple[Callable[[], ast.Module], int]] = WeakKeyDictionary()


def know(function: Any, tree: Callable[[], ast.Module], line: int) -> None:
    """Use this as the source of a function: a fresh tree whose first line counts as `line`."""
    _known[function] = tree, line


def line_of_return(function: Any) -> int:
    """The line of the first `return` with a value, from 1 in its file; 0 if unknown."""
    known = parsed(function)
    if known is None:
        return 0
    tree, start = known
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value]
    return start + min(node.lineno for node in returns) - 1 if returns else 0


def parsed(function: Any) -> tuple[ast.Module, int] | None:
    """The source of a function and the line where it begins; None if unknown."""
    if function in _known:
        tree, line = _known[function]
        return tree(), line
    try:
        source, start = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return None
    return ast.parse(textwrap.dedent("".join(source))), start
