"""Every regular expression of a package, with the methods by which it is used, from its sources."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")
FLAGS = re.RegexFlag


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and the methods that are called with it."""

    where: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def patterns(root: Path, packages: tuple[str, ...]) -> tuple[list[Found], list[str]]:
    """All patterns, and the places where a pattern is only known when the program runs."""
    sources = [path for package in packages for path in sorted((root / package).rglob("*.py"))]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sources}
    everywhere = _used(trees.values())
    found: list[Found] = []
    unknown = []
    for path, tree in trees.items():
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _of_re(node)]
        if not calls:
            continue
        named = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(named)
        assigned = _assigned(tree)
        for call in calls:
            where = f"{path.relative_to(root)}:{call.lineno}"
            pattern = _evaluated(call, module)
            if pattern is None:
                unknown.append(str(path.relative_to(root)))
                continue
            method = call.func.attr  # type: ignore[attr-defined]
            name = assigned.get(id(call), "")
            methods = (_used([tree]) if name.startswith("_") else everywhere).get(name, frozenset())
            if method != "compile":
                methods = frozenset({method})
            found.append(Found(where, pattern, methods or frozenset({"search", "fullmatch"})))
    return found, unknown


def _of_re(call: ast.Call) -> bool:
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == "re"
        and func.attr in (*METHODS, "compile")
        and bool(call.args)
    )


def _used(trees: Any) -> dict[str, frozenset[str]]:
    """Name → the methods of a pattern that are called on something of that name."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                value = node.value
                name = getattr(value, "id", getattr(value, "attr", ""))
                found.setdefault(name, set()).add(node.attr)
    return {name: frozenset(methods) for name, methods in found.items()}


def _assigned(tree: ast.Module) -> dict[int, str]:
    """The name to which a call's value is given, by the call."""
    return {
        id(node.value): node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


class _Names(Mapping[str, Any]):
    """A module's names; a local name of a function stands for some word."""

    def __init__(self, module: ModuleType) -> None:
        self._known = {**vars(builtins), **vars(module)}

    def __getitem__(self, name: str) -> Any:
        return self._known.get(name, "word")

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _evaluated(call: ast.Call, module: ModuleType) -> re.Pattern[Any] | None:
    """The pattern of a call; None where it is a variable or a field alone."""
    pattern = call.args[0]
    if isinstance(pattern, ast.Name | ast.Attribute):
        return None
    flags = [a for a in (*call.args[1:], *(k.value for k in call.keywords)) if _is_flags(a)]
    values = [
        eval(compile(ast.Expression(node), call.func.attr, "eval"), {}, _Names(module))  # type: ignore[attr-defined]
        for node in (pattern, *flags)
    ]
    return re.compile(values[0], sum(map(int, values[1:])))


def _is_flags(node: ast.expr) -> bool:
    named = [n for n in ast.walk(node) if isinstance(n, ast.Attribute)]
    return any(isinstance(n.value, ast.Name) and n.value.id == "re" for n in named) and all(
        hasattr(FLAGS, n.attr) for n in named
    )
