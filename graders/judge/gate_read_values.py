"""What a value of the launcher is, as far as the gate *read* has to know.

Not what it holds: only whether it is a tensor, a kernel, a function, a module's member, a
container of such things, or plain data (numbers, shapes, dtypes, strings).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The simple values. UNKNOWN: the argument of a callback, tensor or number."""

    PLAIN = "plain"
    TENSOR = "tensor"
    KERNEL = "kernel"
    LAUNCH = "launch"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Bag:
    """A tuple, list or dict whose elements are known one by one, or all alike (`uniform`)."""

    items: tuple[Value, ...]
    uniform: bool = False


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
class Method:
    """A bound method that has not been called yet."""

    owner: Value
    name: str


Value = Kind | Bag | Member | Function | Method


def join(values: Sequence[Value]) -> Value:
    """One value that stands for any of these; whatever is most restricted wins."""
    distinct = list(dict.fromkeys(values))
    if not distinct:
        return Kind.PLAIN
    if len(distinct) == 1:
        return distinct[0]
    bags = [value for value in distinct if isinstance(value, Bag)]
    if len(bags) == len(distinct):
        if len({len(bag.items) for bag in bags}) == 1:
            columns = zip(*(bag.items for bag in bags), strict=True)
            return Bag(tuple(join(column) for column in columns), any(b.uniform for b in bags))
        return Bag((join([element(bag) for bag in bags]),), uniform=True)
    if any(has_tensor(value) for value in distinct):
        return Kind.TENSOR
    for kind in (Kind.LAUNCH, Kind.KERNEL):
        if kind in distinct:
            return kind
    functions = [value for value in distinct if isinstance(value, Function | Member | Method)]
    if functions:
        return functions[0]
    return Kind.UNKNOWN if Kind.UNKNOWN in distinct else next(iter(bags), Kind.PLAIN)


def element(value: Value) -> Value:
    """What iterating over `value`, or an unknown subscript of it, gives."""
    if isinstance(value, Bag):
        return join(value.items)
    if value in (Kind.TENSOR, Kind.UNKNOWN, Kind.KERNEL):
        return value
    return Kind.PLAIN


def has_tensor(value: Value) -> bool:
    """Whether tensor data can be reached through `value`."""
    if isinstance(value, Bag):
        return any(has_tensor(item) for item in value.items)
    return value is Kind.TENSOR


def unpack(value: Value, count: int) -> list[Value]:
    """The values of `count` targets that `value` is unpacked into."""
    if isinstance(value, Bag) and not value.uniform and len(value.items) == count:
        return list(value.items)
    return [element(value)] * count
