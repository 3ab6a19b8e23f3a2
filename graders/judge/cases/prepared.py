"""Cases with their tensors and expected results: built once, used for every submission."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graders.judge.cases import tensors
from graders.judge.cases.compare import Expectation, expect
from graders.judge.records import Case, Exercise, GraderError


@dataclass(frozen=True)
class Prepared:
    """A case with its arguments and its expected result.

    `number` is its place among all the cases for which a launcher is called. If a launcher returns
    several tensors, each has its own `Prepared`, with the same number.
    """

    case: Case
    args: tuple[Any, ...]
    expectation: Expectation
    number: int

    @property
    def size(self) -> int:
        """The number of elements of arguments and result together."""
        inputs = sum(arg.numel() for arg in self.args if isinstance(arg, torch.Tensor))
        return inputs + self.expectation.values.numel()


def seed_of(secret: bytes, *what: object) -> int:
    """A seed that cannot be computed without the secret."""
    return int.from_bytes(hmac.digest(secret, repr(what).encode(), "sha256")[:8], "little")


def prepare(
    exercise: Exercise, cases: Sequence[Case], secret: bytes, first: int = 0
) -> list[Prepared]:
    """Build the tensors and run the reference; an error here is ours, never the learner's.

    The numbers are drawn from the secret. The cases are numbered from `first`.
    """
    prepared: list[Prepared] = []
    for number, case in enumerate(cases, first):
        try:
            args = tensors.build(case, seed_of(secret, exercise.name, case))
            prepared += [
                Prepared(case, args, expectation, number) for expectation in expect(exercise, args)
            ]
        except Exception as error:
            raise GraderError(
                f"exercise {exercise.name}, case {case.name!r}: the record itself fails: {error}"
            ) from error
    return prepared


def distinct(prepared: Sequence[Prepared]) -> list[Prepared]:
    """The first entry of each case."""
    return list({item.number: item for item in prepared}.values())
