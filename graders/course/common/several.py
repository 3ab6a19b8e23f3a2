"""Misconceptions about launchers that return several tensors, built from those about one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graders.course.common.detectors import Detector
from graders.judge.records import Evidence, ExpectedWrong, Misconception


def joined(*records: Misconception | None) -> Misconception:
    """Return one misconception in the words of the first record.

    The record at index i says how the mistake shows in result i; None if it does not show there.
    """
    known = [(number, record) for number, record in enumerate(records) if record is not None]
    detectors = {n: record.detector for n, record in known if record.detector is not None}
    return replace(
        known[0][1],
        faults=frozenset().union(*(record.faults for _, record in known)),
        expected_wrong=tuple(
            _placed(expected, number, len(records))
            for number, record in known
            for expected in record.expected_wrong
        ),
        detector=_of_its_result(detectors) if detectors else None,
    )


def only(result: int, *records: Misconception) -> tuple[Misconception, ...]:
    """Return the records as those of one of several results."""
    return tuple(replace(record, result=result) for record in records)


def _placed(expected: ExpectedWrong, number: int, count: int) -> ExpectedWrong:
    """The wrong results of one tensor, placed at index `number` of `count` results."""
    function: Callable[..., Any] = expected.function

    def placed(*args: Any) -> list[tuple[Any, ...]]:
        found = function(*args)
        forms = found if isinstance(found, list) else [found]
        return [tuple(form if i == number else None for i in range(count)) for form in forms]

    return replace(expected, function=placed)


def _of_its_result(detectors: dict[int, Detector]) -> Detector:
    """The detector that calls the one for the current result."""

    def detector(evidence: Evidence) -> bool:
        mine = detectors.get(evidence.result)
        return mine is not None and mine(evidence)

    return detector
