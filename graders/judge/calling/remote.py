"""The judge's side of the stand-ins: objects that a submission uses but never gets.

A request is a line from a process that ran untrusted code. It may only use the objects of the
current case, by the names that the exercise offers.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import MethodType
from typing import Any

import torch

from graders.judge.records import Fault

MOST_ARGUMENTS = 8
MOST_NUMBERS = 4096  # of a list
MOST_TEXT = 200
_PLAIN = (bool, int, float, str)


class BrokenLineError(Exception):
    """A line that a stand-in cannot have written: it is forged or damaged."""


def kinds(remote: Mapping[type, tuple[str, ...]]) -> dict[str, dict[str, list[str]]]:
    """Return the attributes of each class's stand-in, for the process that makes it."""
    return {
        kind.__name__: {
            "methods": [name for name in names if not _is_property(kind, name)],
            "properties": [name for name in names if _is_property(kind, name)],
        }
        for kind, names in remote.items()
    }


def _is_property(kind: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(kind, name), property)


class Remote:
    """The objects of one call, by number."""

    def __init__(self, offers: Mapping[type, tuple[str, ...]], first: int = 0) -> None:
        self._offers = offers
        self._first = first
        self._objects: list[Any] = []
        self.faults: list[Fault] = []
        self.over = False  # an error said that continuing is pointless

    def encoded(self, value: Any) -> dict[str, Any]:
        """Return a value in the form that the stand-ins' side reads."""
        if isinstance(value, tuple):
            return {"tuple": [self.encoded(item) for item in value]}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if value is None or isinstance(value, _PLAIN):
            return {"value": value}
        self._objects.append(value)
        number = self._first + len(self._objects) - 1
        if isinstance(value, MethodType):
            return {"far": number, "kind": "function", "name": value.__name__}
        return {"far": number, "kind": type(value).__name__}

    def used(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a use of a stand-in; raises BrokenLineError."""
        name, given = message.get("name"), message.get("args")
        if not isinstance(name, str) or not isinstance(given, list) or len(given) > MOST_ARGUMENTS:
            raise BrokenLineError
        target = self._object(message.get("use"))
        if name:
            if name not in self._offers.get(type(target), ()):
                raise BrokenLineError
            if _is_property(type(target), name):
                return self._answer(lambda: getattr(target, name), name, [])
            target = getattr(target, name)
        if not isinstance(target, MethodType):
            raise BrokenLineError
        return self._answer(target, target.__name__, [self._decoded(one) for one in given])

    def _answer(self, target: Any, name: str, args: Sequence[Any]) -> dict[str, Any]:
        try:
            return {"gives": self.encoded(target(*args))}
        except Exception as error:
            code = getattr(error, "code", None)  # only errors with a code are written for learners
            if not isinstance(code, str):
                return {"fails": _misused(target, name, args)}
            self.faults.append(Fault(code, str(error)))
            self.over = self.over or bool(getattr(error, "over", False))
            return {"fails": str(error)[:MOST_TEXT]}

    def _object(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number - self._first < len(self._objects):
            raise BrokenLineError
        return self._objects[number - self._first]

    def _decoded(self, described: Any) -> Any:
        if not isinstance(described, dict):
            raise BrokenLineError
        if "far" in described:
            return self._object(described["far"])
        if "numbers" in described:
            return _numbers(described["numbers"])
        value = described.get("value")
        if value is not None and type(value) not in _PLAIN:
            raise BrokenLineError
        return value


def _numbers(given: Any) -> tuple[float, ...]:
    """The numbers of a list; raises BrokenLineError."""
    if not isinstance(given, list) or len(given) > MOST_NUMBERS:
        raise BrokenLineError
    if any(type(item) not in (int, float, bool) for item in given):
        raise BrokenLineError
    try:
        return tuple(map(float, given))
    except OverflowError:
        raise BrokenLineError from None


def _misused(target: Any, name: str, args: Sequence[Any]) -> str:
    try:
        inspect.signature(target).bind(*args)
    except TypeError as error:
        return f"{name}() is called with other arguments than it takes: {error}"
    return f"{name}() cannot take what it is given"
