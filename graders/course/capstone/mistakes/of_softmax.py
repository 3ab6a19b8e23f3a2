"""The misconceptions about softmax, as they show in a loss and in its gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graders.course.capstone.mistakes.shares import Wrong
from graders.course.common.detectors import Detector
from graders.course.reductions.mistakes.softmax_records import MISTAKES
from graders.judge.records import Misconception

_RECORDS = {record.code: record for record in MISTAKES}


def seen_through(
    through: Callable[..., tuple[Wrong, ...]],
    code: str,
    detector: Detector | None = None,
    **texts: Any,
) -> Misconception:
    """Return the record of that code; `through` makes of a wrong softmax what is seen of it here.

    texts: what is said in other words than of a softmax.
    """
    record = _RECORDS[code]
    expected = tuple(
        replace(item, function=through(item.function)[0]) for item in record.expected_wrong
    )
    return replace(record, expected_wrong=expected, detector=detector, **texts)
