"""Interfaces between the parts of the engine, so that no part imports its owner."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from triton_util.interpreter.faults import Fault
from triton_util.interpreter.options import EngineOptions
from triton_util.interpreter.state import Batch, SourceLines


class Running(Protocol):
    """The run of an `interpret` block, as its parts see it: `session.Run`."""

    options: EngineOptions
    launches: list[Any]
    faults: list[Fault]
    lines: SourceLines
    lanes: dict[Any, int]
    meta: dict[str, Any]
    watchers: list[Any]
    tuned: dict[Any, Any]
    builder: Any
    control: Any
    counter: Any
    known_memory: Any
    given_options: dict[str, Any]
    within: Any
    tuned_by: list[Any]
    turn: Any

    def counting(self) -> AbstractContextManager[None]:
        """Count the traffic of the launches inside, whatever the options say."""


class Deciding(Protocol):
    """Knows which values the running programs agree on: `control.flow.Control`."""

    @property
    def batch(self) -> Batch:
        """The batch that is running."""

    def agreed(self, tensor: Any) -> Any:
        """The one value of a scalar tensor; raises Divergence where programs differ."""
