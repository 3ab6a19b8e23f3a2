"""The canonical text of a kernel: what the checker, the interpreter and the compiler all read.

The reading process makes it once, from the syntax tree of the submission (see
`submission.canonical`). Nothing else of a kernel's text is executed or compiled.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from graders.judge.plan.arms import number_arms
from graders.judge.plan.decisions import number_decisions
from graders.judge.plan.tree_data import from_data, to_data

# The builtins of Python that a kernel may use.
KERNEL_BUILTINS = frozenset(
    (
        *("range", "min", "max", "len", "int", "float", "bool", "abs", "print"),
        *("list", "tuple", "round", "pow", "sum", "zip", "True", "False", "None"),
    )
)
NAMESPACE = {name: getattr(builtins, name) for name in sorted(KERNEL_BUILTINS)}


@dataclass(frozen=True)
class Code:
    """One function of a submission.

    `line` is its first line in the submission, decorators included, and `name` its name there:
    together they identify it. `text` is a single `def` without decorators, defaults and parameter
    annotations. `places` has the line and column in the submission for each node of its tree that
    has a place, in the order of `ast.walk`. `names` are the names that the text takes from outside.
    `parsed` is the tree as data, from the reading process: the judge does not parse the text again.
    """

    name: str
    line: int
    text: str
    places: tuple[tuple[int, int], ...]
    names: frozenset[str]
    parsed: Any = field(default=None, compare=False, repr=False)

    @property
    def def_line(self) -> int:
        """The line of `def`."""
        return self.places[0][0]

    @property
    def last_line(self) -> int:
        """The last line on which a node begins."""
        return max(line for line, _ in self.places)

    def tree(self, first_line: int | None = None, kernel: int | None = None) -> ast.FunctionDef:
        """A fresh tree whose nodes have the lines of the submission.

        first_line: the number that the line of `def` gets; by default its own. kernel: give each
        arm of a branch and each decision its number in this kernel of the plan.
        """
        shift = 0 if first_line is None else first_line - self.def_line
        node = ast.parse(self.text).body[0] if self.parsed is None else from_data(self.parsed)
        assert isinstance(node, ast.FunctionDef)
        nodes = placed(node)
        for part, (line, column) in zip(nodes, self.places, strict=True):
            part.lineno = part.end_lineno = line + shift
            part.col_offset = part.end_col_offset = column
        if kernel is not None:
            number_arms(node, nodes, kernel)
            number_decisions(node, nodes, kernel)
        return node

    @cached_property
    def known_tree(self) -> ast.FunctionDef:
        """The tree, shared by all callers that only read it."""
        return self.tree()

    def altered(self, tree: ast.FunctionDef) -> Code:
        """The code of an altered tree; new nodes need the line of a neighbouring node."""
        return replace(
            self, text=ast.unparse(tree) + "\n", places=places(tree), parsed=to_data(tree)
        )

    @classmethod
    def own(cls, text: str, *names: str) -> Code:
        """The code of a text that the judge wrote, with the text's own lines."""
        node = ast.parse(text).body[0]
        assert isinstance(node, ast.FunctionDef)
        return cls(node.name, node.lineno, text.strip() + "\n", places(node), frozenset(names))

    def to_json(self) -> list[Any]:
        """The code as JSON, to send to another process."""
        return [self.name, self.line, self.text, list(map(list, self.places)), sorted(self.names)]

    @classmethod
    def from_json(cls, raw: Any) -> Code:
        """The code from the output of `to_json`."""
        name, line, text, places, names = raw
        return cls(name, line, text, tuple((at, column) for at, column in places), frozenset(names))


def placed(node: ast.AST) -> list[Any]:
    """The nodes of a tree that have a place in the text, in a fixed order."""
    return [part for part in ast.walk(node) if hasattr(part, "lineno")]


def places(node: ast.AST) -> tuple[tuple[int, int], ...]:
    """Line and column of each node that has a place."""
    return tuple((part.lineno, part.col_offset) for part in placed(node))


def by_place(codes: tuple[Code, ...]) -> Mapping[tuple[int, str], Code]:
    """The functions of a submission by line and name."""
    return {(code.line, code.name): code for code in codes}
