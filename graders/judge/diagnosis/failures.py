"""What is known about a case that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graders.judge.cases.compare import Expectation
from graders.judge.diagnosis.generic import FindingText
from graders.judge.records import Case, Evidence, Fault, LaunchFacts

TINY = 8  # elements


@dataclass(frozen=True)
class SeenCase:
    """A case that ran, whether it failed or passed. One result of several has its own."""

    case: Case
    args: tuple[Any, ...]
    expectation: Expectation
    launches: tuple[LaunchFacts, ...]
    failed: bool


@dataclass(frozen=True)
class Difference:
    """A known reason why a GPU gives another result, and the line of the kernel, if any."""

    code: str
    text: FindingText
    line: int | None = None


@dataclass(frozen=True)
class Failure:
    """One failing case with all that is known about it."""

    case: Case
    status: str  # the worker's outcome, "inputs-changed" or "wrong-values"
    evidence: Evidence
    expectation: Expectation
    wrong: torch.Tensor | None  # bool, True where the output is not acceptable
    error: Fault | None = None
    returned: str = ""  # what came back instead of the result, in words
    schedule: str = "grid"
    difference: Difference | None = None  # why a GPU disagrees with the interpreter

    @property
    def tiny(self) -> bool:
        """Whether the result has too few elements to distinguish mistakes."""
        return self.evidence.expected.numel() <= TINY


@dataclass(frozen=True)
class Seen:
    """All that is known about a submission: its failures, all cases that ran, and its text."""

    failures: Sequence[Failure]
    cases: Sequence[SeenCase] = ()
    source: str = ""
