"""What a value of the launcher is, as far as the gate *read* has to know.

Not what it holds: only whether it is a tensor, a kernel, a function, a module's member, a
container of such things, or plain data (numbers, shapes, dtypes, strings).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

LEAVES_LIMIT = 100
METADATA = ("stride", "size", "numel", "dim")


class Kind(Enum):
    """The simple values. UNKNOWN: the argument of a callback, tensor or number."""

    PLAIN = "plain"
    TENSOR = "tensor"
    KERNEL = "kernel"
    LAUNCH = "launch"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Bag:
    """A tuple, list or dict whose elements are known one by one, or all alike (`uniform`).

    One with more than LEAVES_LIMIT values in it, however nested, forgets how they are nested.
    """

    items: tuple[Value, ...]
    uniform: bool = False
    leaves: frozenset[Value] = field(init=False, compare=False, repr=False)
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        inner = [option for item in self.items for option in options(item)]
        bags = [value for value in inner if isinstance(value, Bag)]
        leaves: frozenset[Value] = frozenset(v for v in inner if not isinstance(v, Bag))
        leaves = leaves.union(*(bag.leaves for bag in bags))
        size = 1 + len(inner) + sum(bag.size for bag in bags)
        if size > LEAVES_LIMIT:
            object.__setattr__(self, "items", tuple(sorted(leaves, key=str)))
            object.__setattr__(self, "uniform", True)
            size = 1 + len(leaves)
        object.__setattr__(self, "leaves", leaves)
        object.__setattr__(self, "size", size)


@dataclass(frozen=True)
class Member:
    """A module or something in it, by its dotted path."""

    path: str


@dataclass(frozen=True)
class Function:
    """A plain Python function or lambda of the submission; compared by identity of its node."""

    node: ast.FunctionDef | ast.Lambda
    closure: int = 0  # number of the environment in which it was defined


@dataclass(frozen=True)
class Differentiable:
    """A class derived from torch.autograd.Function; its `apply` calls `forward`."""

    node: ast.ClassDef

    def method(self, name: str) -> ast.FunctionDef | None:
        """The method of this name."""
        found = (n for n in self.node.body if isinstance(n, ast.FunctionDef) and n.name == name)
        return next(found, None)


@dataclass(frozen=True)
class Record:
    """A class that only holds values; what it is called with is what an object of it holds."""

    name: str


@dataclass(frozen=True)
class Method:
    """A bound method that has not been called yet."""

    owner: Value
    name: str


@dataclass(frozen=True)
class Partial:
    """What functools.partial made: a function and the arguments it already has."""

    function: Value
    arguments: tuple[tuple[str | None, Value], ...]

    @property
    def held(self) -> Value:
        """What can be reached through it."""
        return join([value for _, value in self.arguments])


@dataclass(frozen=True)
class OneOf:
    """Any of several values that have nothing in common."""

    options: tuple[Value, ...]


Value = Kind | Bag | Member | Function | Differentiable | Record | Method | Partial | OneOf


def options(value: Value) -> tuple[Value, ...]:
    """The values that this may be."""
    return value.options if isinstance(value, OneOf) else (value,)


def join(values: Sequence[Value]) -> Value:
    """One value that stands for any of these."""
    distinct = list(dict.fromkeys(option for value in values for option in options(value)))
    bags = [value for value in distinct if isinstance(value, Bag)]
    if len(bags) > 1:
        merged = _merged(bags)
        distinct = [merged, *(value for value in distinct if not isinstance(value, Bag))]
    if not distinct:
        return Kind.PLAIN
    return distinct[0] if len(distinct) == 1 else OneOf(tuple(distinct))


def _merged(bags: Sequence[Bag]) -> Bag:
    if len({len(bag.items) for bag in bags}) == 1:
        columns = zip(*(bag.items for bag in bags), strict=True)
        return Bag(tuple(join(column) for column in columns), any(bag.uniform for bag in bags))
    return Bag((join([element(bag) for bag in bags]),), uniform=True)


def element(value: Value) -> Value:
    """What iterating over `value`, or an unknown subscript of it, gives."""
    if isinstance(value, OneOf):
        return join([element(option) for option in value.options])
    if isinstance(value, Bag):
        return join(value.items)
    if value in (Kind.TENSOR, Kind.UNKNOWN, Kind.KERNEL):
        return value
    return Kind.PLAIN


def may_be(value: Value, kind: Kind) -> bool:
    """Whether `kind` is one of the possibilities."""
    return kind in options(value)


def has_tensor(value: Value) -> bool:
    """Whether tensor data can be reached through `value`."""
    for option in options(value):
        if isinstance(option, Bag) and any(has_tensor(item) for item in option.items):
            return True
        if isinstance(option, Partial) and has_tensor(option.held):
            return True
        if option is Kind.TENSOR:
            return True
    return False


def unpack(value: Value, count: int) -> list[Value]:
    """The values of `count` targets that `value` is unpacked into."""
    if isinstance(value, Bag) and not value.uniform and len(value.items) == count:
        return list(value.items)
    return [element(value)] * count


def bag_of(value: Value) -> Bag:
    """A container of any number of such values."""
    return Bag((value,), uniform=True)


def is_literal(node: ast.expr, named: bool = True) -> bool:
    """Numbers, and lists and tuples of them, written out.

    Where `named`, also names of such and what a tensor says of its shape and strides.
    """
    if isinstance(node, ast.List | ast.Tuple):
        return all(is_literal(item, named) for item in node.elts)
    if isinstance(node, ast.BoolOp):
        return all(is_literal(item, named) for item in node.values)
    if isinstance(node, ast.UnaryOp):
        return is_literal(node.operand, named)
    if isinstance(node, ast.BinOp):
        return is_literal(node.left, named) and is_literal(node.right, named)
    if named and isinstance(node, ast.Call):
        return _is_metadata(node)
    if named and isinstance(node, ast.ListComp | ast.GeneratorExp):
        return isinstance(node.elt, ast.Call | ast.Subscript) and is_literal(node.elt)
    if named and isinstance(node, ast.Subscript):
        return is_literal(node.value)
    return isinstance(node, ast.Constant) or (named and isinstance(node, ast.Name | ast.Attribute))


def _is_metadata(node: ast.Call) -> bool:
    """Strides, shapes and sizes, also as a list."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in METADATA
    listed = isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple")
    return listed and all(is_literal(part) for part in node.args)
