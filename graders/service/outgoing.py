"""Cleans what the service sends out: reports with known fields, limited size, plain text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graders.judge import discovery
from graders.judge.pipeline import not_run
from graders.judge.plain_text import one_line, plain, shortened
from graders.judge.records import GraderError
from triton_util.report import Report, Verdict, ungraded_finding

LONGEST_TEXT = 10_000
MOST_ITEMS = 200
DEEPEST = 8
NAME = "<notebook>"


def cleaned(answer: Mapping[str, Any], exercise: str) -> dict[str, Any]:
    """Return a worker's report in the form for its learner, with the speed beside it.

    A worker's answer is read field by field: unknown fields are dropped, and a malformed answer
    raises an error.
    """
    report = Report.from_json(_bounded(answer["report"]))
    if report.exercise != exercise:
        raise GraderError("the report is about another exercise")
    told = {"report": replace(report, submission=NAME).to_json()}
    speed = answer.get("speed")
    return told | ({"speed": _bounded(speed)} if isinstance(speed, Mapping) else {})


def ungraded(exercise: str, why: str) -> dict[str, Any]:
    """Return the answer for a check that was not judged, which is never the learner's fault."""
    record = discovery.exercise(exercise)
    report = Report(
        NAME,
        exercise,
        Verdict.UNGRADED,
        None,
        record.max_points,
        not_run(record),
        (ungraded_finding(GraderError(one_line(why))),),
        "none",
        0.0,
    )
    return {"report": report.to_json()}


def _bounded(value: Any, depth: int = 0) -> Any:
    """Return plain JSON data without control characters, small enough for a card."""
    if depth > DEEPEST:
        raise GraderError("the answer is nested too deeply")
    if isinstance(value, str):
        return shortened(plain(value), LONGEST_TEXT)
    if isinstance(value, Mapping):
        few = list(value.items())[:MOST_ITEMS]
        return {one_line(str(name), 100): _bounded(item, depth + 1) for name, item in few}
    if isinstance(value, list | tuple):
        return [_bounded(item, depth + 1) for item in value[:MOST_ITEMS]]
    if value is None or (isinstance(value, bool | int | float) and math.isfinite(value)):
        return value
    raise GraderError(f"the answer holds what no report does: {type(value).__name__}")
