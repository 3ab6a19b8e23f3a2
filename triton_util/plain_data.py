"""Reads frozen dataclasses from plain JSON data, by the types of their fields.

One mechanism for everything that crosses a process or a file: what does not have the declared type
is refused. Unknown fields are ignored, and missing ones take their defaults. What `Annotated`
adds to a type gets the reading of that type and returns another one: for example with bounds.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar

T = TypeVar("T")
Reading = Callable[[Any], Any]


def read(kind: type[T], data: Any) -> T:
    """Return the value of this type that the data describes; raises ValueError if it does not."""
    wanted: Any = kind
    value: T = reading(wanted)(data)
    return value


def plain(value: Any) -> Any:
    """Return lists for tuples and strings for members of an enumeration, all the way down."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, StrEnum) else value


@cache
def reading(kind: Any) -> Reading:
    """Return what reads a value of this type; the types of its fields are looked up once."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return lambda data: data
    if origin is typing.Annotated:
        found = reading(inner[0])
        for bound in inner[1:]:
            found = bound(found)
        return found
    if origin in (typing.Union, types.UnionType):
        return _one_of(kind, [reading(one) for one in inner])
    if origin is tuple:
        return _tuple(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, item = map(reading, inner)
        return lambda data: {key(k): item(v) for k, v in _checked(Mapping, data).items()}
    if origin in (list, frozenset):
        item = reading(inner[0])
        return lambda data: origin([item(one) for one in _checked(list, data)])
    if origin is Literal:
        return _one_of(kind, [_constant(one) for one in inner])
    if kind is float:
        return lambda data: float(_checked((int, float), data))
    if is_dataclass(kind):
        return _record(kind)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return lambda data: kind(_checked(str, data))
    return lambda data: _checked(kind, data)


def _checked(kind: Any, data: Any) -> Any:
    if kind is types.NoneType and data is None:
        return None
    if not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool):
        raise ValueError(f"{type(data).__name__} instead of {kind}")
    return data


def _constant(expected: Any) -> Reading:
    def constant(data: Any) -> Any:
        if type(data) is not type(expected) or data != expected:
            raise ValueError(f"another value than {expected!r}")
        return data

    return constant


def _one_of(kind: Any, readings: list[Reading]) -> Reading:
    def one_of(data: Any) -> Any:
        for reading in readings:
            try:
                return reading(data)
            except ValueError:
                continue
        raise ValueError(f"{type(data).__name__} instead of {kind}")

    return one_of


def _tuple(inner: tuple[Any, ...]) -> Reading:
    if len(inner) == 2 and inner[1] is ...:
        item = reading(inner[0])
        return lambda data: tuple([item(one) for one in _checked((list, tuple), data)])
    items = [reading(one) for one in inner]

    def of_length(data: Any) -> Any:
        given = _checked((list, tuple), data)
        return tuple([item(one) for item, one in zip(items, given, strict=True)])

    return of_length


def _record(kind: Any) -> Reading:
    hints = typing.get_type_hints(kind, include_extras=True)
    known = {field.name: reading(hints[field.name]) for field in fields(kind) if field.init}
    required = {
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }

    def record(data: Any) -> Any:
        given = _checked(Mapping, data)
        if not required <= given.keys():
            raise ValueError(f"no {min(required - given.keys())} in {kind.__name__}")
        return kind(**{name: item(given[name]) for name, item in known.items() if name in given})

    return record
