"""Finds the exercises that files define, and judges each of them, for several commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from graders.judge import discovery
from graders.judge.pipeline import GATE_NAMES, Judge, not_run
from graders.judge.plain_text import one_line
from graders.judge.records import Exercise, GraderError
from graders.judge.submission.loading import defined_functions
from triton_util.report import Finding, GateStatus, Report, Verdict, ungraded_finding

COULD_NOT_GRADE = 2
EXIT_CODES = {Verdict.PASSED: 0, Verdict.FAILED: 1, Verdict.UNGRADED: COULD_NOT_GRADE}


def known_exercise(name: str) -> Exercise:
    try:
        return discovery.exercise(name)
    except KeyError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--exercise") from None


def reports_on(judge: Judge, files: tuple[Path, ...], wanted: Exercise | None) -> Iterator[Report]:
    """Yield one report for each file and exercise in it, or for the exercise `wanted`."""
    for path in files:
        found = [wanted] if wanted is not None else exercises_in(path)
        if not found:
            yield _nothing_found(path)
        for exercise in found:
            yield _judged(judge, path, exercise)


def _judged(judge: Judge, path: Path, exercise: Exercise) -> Report:
    """Return the judge's report. If the judge itself fails, the report says "ungraded"."""
    try:
        return judge.judge(path, exercise)
    except GraderError:
        raise
    except Exception as error:
        kind = type(error).__name__  # not its text, which may be the submission's
        finding = ungraded_finding(GraderError(f"the judge failed at this file ({kind})"))
        gates = not_run(exercise)
        points = exercise.max_points
        name = exercise.name
        return Report(
            str(path), name, Verdict.UNGRADED, None, points, gates, (finding,), "none", 0.0
        )


def exercises_in(path: Path) -> list[Exercise]:
    """Return the exercises whose function the file defines, in the order of the course.

    An unreadable file is judged against any exercise, so that a report says why.
    """
    known = discovery.exercises()
    names = defined_functions(path)
    if names is None:
        return [next(iter(known.values()))]
    return [exercise for name, exercise in known.items() if name in names]


def _nothing_found(path: Path) -> Report:
    known = ", ".join(sorted(discovery.exercises()))
    finding = Finding(
        gate="read",
        code="function-missing",
        title="No exercise found in this file",
        message=f"{one_line(str(path))} defines none of the functions that the course asks for: "
        f"{known}.",
        next_step="Keep the name of the function as the exercise gives it.",
    )
    gates = dict.fromkeys(GATE_NAMES, GateStatus.NOT_RUN) | {"read": GateStatus.FAILED}
    return Report(str(path), "", Verdict.FAILED, 0, 0, gates, (finding,), "none", 0.0)
