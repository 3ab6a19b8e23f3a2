"""What a workload is, and the bars that it has."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

Args = tuple[Any, ...]
Contender = Callable[..., torch.Tensor]
# check(args, output) returns "" where the output is right, and says what is wrong if not.
Check = Callable[[Args, torch.Tensor], str]


@dataclass(frozen=True)
class Bar:
    """The best solution must be at least `factor` times as fast as `baseline`."""

    baseline: str
    factor: float
    wish: bool = False  # reached for, not required


@dataclass(frozen=True)
class Workload:
    """One exercise at one size; `reference` is both the check and what torch.compile gets.

    bytes_read, bytes_written and flops are the least that the problem needs. `arity` is how many
    of the inputs the solutions get; what follows is for the baselines. `eager` and `compiled` say
    whether the reference is timed, as it is and by torch.compile. `checks` has other checks than
    `check` for single contenders. `rate`: how much faster tensor cores are here than with fp16.
    """

    name: str
    exercise: str
    lesson: str
    make_inputs: Callable[[int], Args]
    reference: Contender
    check: Check
    bytes_read: float
    bytes_written: float
    flops: float
    bars: tuple[Bar, ...]
    baselines: Mapping[str, Contender] = field(default_factory=dict)
    tensor_cores: bool = False
    arity: int | None = None
    eager: bool = True
    compiled: bool = True
    checks: Mapping[str, Check] = field(default_factory=dict)
    rate: float = 1.0

    def solutions(self) -> dict[str, Contender]:
        """The launchers in solutions/ and solutions/fast/, by form."""
        found: dict[str, Contender] = {}
        for form, package in (("plain", "solutions"), ("fast", "solutions.fast")):
            if importlib.util.find_spec(f"{package}.{self.lesson}") is None:
                return found  # without a plain form there is no fast one
            module = importlib.import_module(f"{package}.{self.lesson}")
            if hasattr(module, self.exercise):
                found[form] = self._given_its_inputs(getattr(module, self.exercise))
        return found

    def _given_its_inputs(self, launcher: Contender) -> Contender:
        """The launcher, called with the first `arity` inputs only."""
        if self.arity is None:
            return launcher
        return lambda *args: launcher(*args[: self.arity])

    @property
    def timed_references(self) -> dict[str, Contender]:
        """The reference under the names by which it is timed."""
        found: dict[str, Contender] = {"torch": self.reference} if self.eager else {}
        if self.compiled:
            found["torch.compile"] = torch.compile(
                lambda *args: self.reference(*args), dynamic=False
            )
        return found
