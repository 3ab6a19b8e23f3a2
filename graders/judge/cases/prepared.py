"""Cases with their tensors and expected results: built once, used for every submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graders.judge.cases import tensors
from graders.judge.cases.compare import Expectation, expect
from graders.judge.records import Case, Exercise, GraderError


@dataclass(frozen=True)
class Prepared:
    """A case, its arguments and what they must give.

    `number` is its place among all the cases that a launcher is called for. Where a launcher
    returns several tensors there is one of these for each of them, with the same number.
    """

    case: Case
    args: tuple[Any, ...]
    expectation: Expectation
    hidden: bool
    number: int

    @property
    def size(self) -> int:
        """Elements, of arguments and result together."""
        inputs = sum(arg.numel() for arg in self.args if isinstance(arg, torch.Tensor))
        return inputs + self.expectation.values.numel()


def prepare(
    exercise: Exercise, cases: Sequence[Case], hidden: bool, first: int = 0
) -> list[Prepared]:
    """Build the tensors and run the reference; an error here is ours, never the learner's.

    The cases are numbered from `first`.
    """
    prepared: list[Prepared] = []
    for number, case in enumerate(cases, first):
        try:
            args = tensors.build(case)
            prepared += [
                Prepared(case, args, expectation, hidden, number)
                for expectation in expect(exercise, args)
            ]
        except Exception as error:
            raise GraderError(
                f"exercise {exercise.name}, case {case.name!r}: the record itself fails: {error}"
            ) from error
    return prepared


def distinct(prepared: Sequence[Prepared]) -> list[Prepared]:
    """One for each case."""
    return list({item.number: item for item in prepared}.values())
