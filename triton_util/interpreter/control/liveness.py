"""Which variables of a branch or loop are never read outside it.

Such variables need no merging when programs take different paths, because every read follows a
write on the same path.  In doubt, a variable counts as read outside.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence


def private_names(body: Sequence[ast.stmt]) -> dict[int, frozenset[str]]:
    """For each `if`, `for` and `while` of a function, by id: its private variables."""
    everywhere = _loads(body)
    result: dict[int, frozenset[str]] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.If, ast.For, ast.While)):
                result[id(node)] = _private(node, everywhere)
    return result


def _private(node: ast.If | ast.For | ast.While, everywhere: Counter[str]) -> frozenset[str]:
    inside = _loads([node])
    blocks = [block for block in (node.body, node.orelse) if block]
    head = node.iter if isinstance(node, ast.For) else node.test
    asked = _loads([head])
    candidates = {name for block in blocks for name in _plain_targets(block)}
    return frozenset(
        name
        for name in candidates
        if inside[name] == everywhere[name]
        and not asked[name]
        and all(_is_set_first(name, block) for block in blocks)
    )


def _loads(nodes: Iterable[ast.AST]) -> Counter[str]:
    """How often each name is read; `a += b` reads a."""
    count: Counter[str] = Counter()
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                count[inner.id] += 1
            elif isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
                count[inner.target.id] += 1
    return count


def _plain_targets(block: Sequence[ast.stmt]) -> set[str]:
    return {name for statement in block for name in _set_by(statement)}


def _set_by(statement: ast.stmt) -> set[str]:
    """The names that a plain assignment always binds."""
    if not isinstance(statement, ast.Assign):
        return set()
    found = set()
    for target in statement.targets:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        found |= {part.id for part in parts if isinstance(part, ast.Name)}
    return found


def _is_set_first(name: str, block: Sequence[ast.stmt]) -> bool:
    """Whether the block assigns the name before anything in it reads or changes it."""
    for statement in block:
        if isinstance(statement, ast.Assign):
            if _loads([statement.value])[name]:
                return False
            if name in _set_by(statement):
                return True
        if any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(statement)):
            return False
    return True
