"""Failing cases of an addition, for tests that name a mistake."""

from __future__ import annotations

from typing import Any

import torch

from graders.judge.cases.compare import expect, wrong_elements
from graders.judge.diagnosis.failures import Failure
from graders.judge.records import (
    Case,
    Evidence,
    Exercise,
    ExpectedWrong,
    Fault,
    Misconception,
    TensorSpec,
)

SUBTRACTS = Misconception(
    code="subtracts",
    title="It subtracts",
    message="The values are differences.",
    next_step="Use +.",
    expected_wrong=(ExpectedWrong(lambda x, y: x - y),),
)
UNMASKED = Misconception(
    code="missing-mask",
    title="No mask",
    message="The last block reaches past the end.",
    next_step="Compare the offsets with n_elements.",
    faults=frozenset({"out-of-bounds-store"}),
)
ADD = Exercise(
    name="vector_add",
    lesson="none",
    title="",
    parameters=("x", "y"),
    reference=lambda x, y: x + y,
    cases=(),
    hints=("", "", ""),
    misconceptions=(SUBTRACTS, UNMASKED),
    parts={"core": 10},
)


def fail(
    actual: Any,
    shape: tuple[int, ...] = (40,),
    never: torch.Tensor | None = None,
    faults: tuple[Fault, ...] = (),
    status: str = "wrong-values",
) -> Failure:
    """A failing case; `actual(x, y)` is what the kernel computed, None where it did not return."""
    torch.manual_seed(0)
    x, y = torch.randn(shape), torch.randn(shape)
    (expectation,) = expect(ADD, (x, y))
    output = None if actual is None else actual(x, y)
    wrong = None if output is None else wrong_elements(output, expectation)
    evidence = Evidence((x, y), expectation.values, output, never, faults)
    spec = TensorSpec(shape)
    case = Case("n=40", (spec, spec))
    return Failure(case, status, evidence, expectation, wrong)


def stored(shape: tuple[int, ...], which: Any) -> torch.Tensor:
    never = torch.ones(shape, dtype=torch.bool)
    never[which] = False
    return never


def poisoned(never: torch.Tensor) -> Any:
    return lambda x, y: torch.where(never, torch.nan, x + y)
