"""Methods of aggregates, the classes that a kernel may use for its values.

In interpreter mode, triton drops the @triton.jit methods of such a class and has no way to bind
them. Importing the engine fixes both permanently, because a file defines such classes at its top.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

import triton.language as tl
from triton.runtime import interpreter as stock


def install() -> None:
    """Let classes made by `triton.language.core._aggregate` keep their methods."""
    plain = getattr(tl.core, "_aggregate", None)
    if plain is None or hasattr(plain, "__wrapped__"):
        return
    tl.core._aggregate = _keeping_methods(plain)
    if not hasattr(stock.InterpretedFunction, "__get__"):
        stock.InterpretedFunction.__get__ = _bound


def _keeping_methods(plain: Callable[[type], type]) -> Callable[[type], type]:
    @functools.wraps(plain)
    def aggregate(cls: type) -> type:
        made = plain(cls)
        for owner in reversed(cls.__mro__):
            for name, member in vars(owner).items():
                if isinstance(member, stock.InterpretedFunction) and name != "__init__":
                    setattr(made, name, member)
        return made

    return aggregate


def _bound(function: Any, instance: Any, _owner: type | None = None) -> Any:
    """The function bound to an instance; the function itself when read from the class."""
    return function if instance is None else MethodType(function, instance)
