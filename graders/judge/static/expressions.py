"""Expressions of the launcher: what they are, and what in them is not allowed."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from graders.judge.static import names as names
from graders.judge.static.calls import Calls
from graders.judge.static.findings import not_triton, shown, torch_computes
from graders.judge.static.values import (
    Bag,
    Kind,
    Member,
    Method,
    Partial,
    Record,
    Value,
    bag_of,
    element,
    has_tensor,
    join,
    may_be,
    options,
)

if TYPE_CHECKING:
    from graders.judge.static.launcher import Reader

QUIET_COMPARISONS = (ast.Is, ast.IsNot, ast.In, ast.NotIn)


class Expressions:
    """Evaluates expressions to `Value`s and reports to the reader that owns it."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.calls = Calls(reader, self)

    def value(self, node: ast.expr | None) -> Value:
        """What the expression is; findings go to the reader."""
        if node is None:
            return Kind.PLAIN
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is not None:
            result: Value = handler(node)
            return result
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return Kind.PLAIN

    # ------------------------------------------------------------ names and members

    def _name(self, node: ast.Name) -> Value:
        known = self.reader.lookup(node.id)
        if known is not None:
            if isinstance(known, Member):
                self.reader.used_member(node, known.path)
            return known
        if node.id in names.LAUNCHER_BUILTINS:
            return Member(f"builtins.{node.id}")
        if hasattr(builtins, node.id) or node.id.startswith("__"):
            self.reader.report(
                not_triton(
                    node,
                    f"{node.id} has no place in a launcher.",
                    "Allocate, look at shapes and strides, launch, return.",
                )
            )
        return Kind.PLAIN

    def _attribute(self, node: ast.Attribute) -> Value:
        path = self.reader.dotted(node)
        if path is not None:
            return self._member(node, path)
        owner = self.value(node.value)
        if node.attr == "__name__":  # a text, for the words of an error: type(x).__name__
            return Kind.PLAIN
        if node.attr.startswith("__"):
            self.reader.report(
                not_triton(node, f"{shown(node)} reaches into Python itself.", "Remove it.")
            )
            return Kind.PLAIN
        return join([self._attribute_of(node, option) for option in options(owner)])

    def _member(self, node: ast.Attribute, path: str) -> Value:
        self.reader.used_member(node, path)
        last = path.rsplit(".", 1)[-1]
        if path.startswith("torch.") and path[6:] in names.TORCH_VALUES and last != "Tensor":
            return Kind.PLAIN
        return Member(path)

    def _attribute_of(self, node: ast.Attribute, owner: Value) -> Value:
        name = node.attr
        if isinstance(owner, Bag):  # a container, or an object that holds what it was made of
            known = name in names.CONTAINER_METHODS or name.startswith("_")
            return Method(owner, name) if known else element(owner)
        if isinstance(owner, Record):
            return Kind.PLAIN
        if isinstance(owner, Partial):
            return bag_of(owner.held)
        if owner is Kind.KERNEL:
            return self._kernel_attribute(node)
        if owner is Kind.TENSOR:
            if name in names.VIEW_ATTRIBUTES:
                return Kind.TENSOR
            if name in names.METADATA_ATTRIBUTES:
                return Kind.PLAIN
            return Method(owner, name)
        if owner is Kind.UNKNOWN:
            if name in names.METADATA_ATTRIBUTES:
                return Kind.PLAIN
            return Method(owner, name) if name in dir(torch.Tensor) else Kind.UNKNOWN
        return Method(owner, name)

    def _kernel_attribute(self, node: ast.Attribute) -> Value:
        if node.attr not in names.KERNEL_ATTRIBUTES:
            self.reader.report(
                not_triton(node, f"{shown(node)} reaches into the kernel object.", "Launch it.")
            )
        if node.attr in ("run", "warmup"):
            return Kind.LAUNCH
        return Kind.KERNEL if node.attr == "fn" else Kind.PLAIN

    # ------------------------------------------------------------ operators

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if may_be(left, Kind.TENSOR) or may_be(right, Kind.TENSOR):
            self.reader.report(torch_computes(node, f"`{shown(node)}`"))
            return Kind.TENSOR
        if isinstance(left, Bag) or isinstance(right, Bag):
            return self._joined_bags(left, right)
        unknown = may_be(left, Kind.UNKNOWN) or may_be(right, Kind.UNKNOWN)
        return Kind.UNKNOWN if unknown else join([element(left), element(right)])

    @staticmethod
    def _joined_bags(left: Value, right: Value) -> Value:
        bags = [value for value in (left, right) if isinstance(value, Bag)]
        exact = len(bags) == 2 and not any(bag.uniform for bag in bags)
        items = tuple(item for bag in bags for item in bag.items)
        return Bag(items) if exact else bag_of(join(items))

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if may_be(value, Kind.TENSOR) and not isinstance(node.op, ast.Not):
            self.reader.report(torch_computes(node, f"`{shown(node)}`"))
        return Kind.PLAIN if isinstance(node.op, ast.Not) else value

    def _compare(self, node: ast.Compare) -> Value:
        sides = [node.left, *node.comparators]
        values = [self.value(side) for side in sides]
        with_none = any(isinstance(s, ast.Constant) and s.value is None for s in sides)
        counting = not all(isinstance(op, QUIET_COMPARISONS) for op in node.ops)
        data = any(may_be(value, Kind.TENSOR) for value in values)
        if data and counting and not with_none:
            self.reader.report(torch_computes(node, f"`{shown(node)}`"))
        return Kind.PLAIN

    def _boolop(self, node: ast.BoolOp) -> Value:
        return join([self.value(part) for part in node.values])

    def _ifexp(self, node: ast.IfExp) -> Value:
        self.value(node.test)
        return join([self.value(node.body), self.value(node.orelse)])

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.reader.bind(node.target, value)
        return value

    # ------------------------------------------------------------ containers

    def _tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            parts = [
                element(self.value(i.value)) if isinstance(i, ast.Starred) else self.value(i)
                for i in node.elts
            ]
            return bag_of(join(parts))
        return Bag(tuple(self.value(item) for item in node.elts))

    _list = _tuple
    _set = _tuple

    def _dict(self, node: ast.Dict) -> Value:
        for key in node.keys:
            self.value(key)
        values = [
            element(self.value(value)) if key is None else self.value(value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return bag_of(join(values))

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        index = self.value(node.slice)
        return join([self._item_of(node, option, index) for option in options(owner)])

    def _item_of(self, node: ast.Subscript, owner: Value, index: Value) -> Value:
        if owner is Kind.KERNEL:
            self.reader.callback(index)
            return Kind.LAUNCH
        if isinstance(owner, Bag):
            return self._item(owner, node.slice)
        if owner is Kind.TENSOR:
            strict = "contiguous" in self.reader.exercise.forbidden_calls
            if has_tensor(index) or _lists(node.slice, index, strict):
                self.reader.report(torch_computes(node, f"The gather `{shown(node)}`"))
            return Kind.TENSOR
        return Kind.UNKNOWN if owner is Kind.UNKNOWN else Kind.PLAIN

    def _item(self, owner: Bag, index: ast.expr) -> Value:
        if isinstance(index, ast.Slice):
            return bag_of(element(owner))
        try:
            position = ast.literal_eval(index)
        except (ValueError, TypeError):  # no literal, or one that Python itself would refuse
            return element(owner)
        if isinstance(position, int) and not owner.uniform:
            inside = -len(owner.items) <= position < len(owner.items)
            return owner.items[position] if inside else element(owner)
        return element(owner)

    def _slice(self, node: ast.Slice) -> Value:
        for part in (node.lower, node.upper, node.step):
            self.value(part)
        return Kind.PLAIN

    def _starred(self, node: ast.Starred) -> Value:
        return element(self.value(node.value))

    # ------------------------------------------------------------ comprehensions and functions

    def _listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        self._generators(node.generators)
        return bag_of(self.value(node.elt))

    _setcomp = _listcomp
    _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp) -> Value:
        self._generators(node.generators)
        self.value(node.key)
        return bag_of(self.value(node.value))

    def _generators(self, generators: Sequence[ast.comprehension]) -> None:
        for generator in generators:
            self.reader.bind(generator.target, element(self.value(generator.iter)))
            for condition in generator.ifs:
                self.value(condition)

    def _lambda(self, node: ast.Lambda) -> Value:
        return self.reader.closure(node)

    def _call(self, node: ast.Call) -> Value:
        return self.calls.value(node)

    def _await(self, node: ast.Await | ast.Yield | ast.YieldFrom) -> Value:
        what = type(node).__name__.lower().removesuffix("from")
        self.reader.report(not_triton(node, f"A launcher needs no `{what}`.", "Return the result."))
        return Kind.PLAIN

    _yield = _await
    _yieldfrom = _await


def _lists(node: ast.expr, index: Value, strict: bool) -> bool:
    """Whether a subscript holds a list of places: torch then copies what lies there.

    A computed container may be a tuple, too, as in `x[(None,) * 3]`; `strict` refuses it.
    """
    if isinstance(node, ast.Tuple):
        values = index.items if isinstance(index, Bag) else (index,) * len(node.elts)
        return any(
            _lists(part, value, strict) for part, value in zip(node.elts, values, strict=False)
        )
    computed = any(isinstance(option, Bag) and option.uniform for option in options(index))
    return (strict and computed) or isinstance(node, ast.List | ast.ListComp)
