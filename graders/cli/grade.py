"""`tilewise check` and `tilewise grade`: files in, one verdict per file and exercise out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from graders.cli import reports
from graders.judge import discovery
from graders.judge.pipeline import GATE_NAMES, Judge, not_run
from graders.judge.plain_text import one_line
from graders.judge.records import Exercise, GraderError
from graders.judge.report import Finding, GateStatus, Report, Verdict, ungraded_finding
from graders.judge.runtime import Mode
from graders.judge.submission.loading import defined_functions

EXIT_CODES = {Verdict.PASSED: 0, Verdict.FAILED: 1, Verdict.UNGRADED: 2}


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """What check and grade have in common."""
    for option in (
        click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option("--json", "as_json", is_flag=True, help="One line of JSON per verdict."),
        click.option(
            "--mode",
            type=click.Choice(["interpret", "gpu", "all"]),
            default="interpret",
            help="Where kernels run: the interpreter, a GPU, or both.",
        ),
        click.option("--exercise", metavar="NAME", help="Only this exercise (default: all found)."),
    ):
        command = option(command)
    return command


@click.command()
@_options
def check(files: tuple[Path, ...], exercise: str | None, mode: Mode, as_json: bool) -> None:
    """Check FILES (.py or .ipynb) with the public cases. Not a grade."""
    _run(files, exercise, Judge(mode), as_json, points=False)


@click.command()
@_options
@click.option(
    "--allow-unsandboxed",
    is_flag=True,
    help="Grade although the sandbox is not enforced; stamped on the reports.",
)
def grade(
    files: tuple[Path, ...],
    exercise: str | None,
    mode: Mode,
    as_json: bool,
    allow_unsandboxed: bool,
) -> None:
    """Grade FILES (.py or .ipynb) with the public and the hidden cases.

    Exit code: 0 all passed, 1 some failed, 2 something could not be graded.
    """
    _run(files, exercise, Judge(mode, True, allow_unsandboxed), as_json)


def _run(
    files: tuple[Path, ...], name: str | None, judge: Judge, as_json: bool, points: bool = True
) -> None:
    wanted = None if name is None else known_exercise(name)
    show: Callable[[Report], None] = _print_json if as_json else reports.printer(Console(), points)
    worst = 0
    try:
        with judge:
            for report in reports_on(judge, files, wanted):
                show(report)
                worst = max(worst, EXIT_CODES[report.verdict])
    except GraderError as error:  # of the machine or the course: no other file would fare better
        print(f"Error: {one_line(str(error), 2000)}", file=sys.stderr)
        worst = EXIT_CODES[Verdict.UNGRADED]
    sys.exit(worst)


def known_exercise(name: str) -> Exercise:
    try:
        return discovery.exercise(name)
    except KeyError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--exercise") from None


def reports_on(judge: Judge, files: tuple[Path, ...], wanted: Exercise | None) -> Iterator[Report]:
    """One report for each file and exercise in it, or for the exercise that is wanted."""
    for path in files:
        found = [wanted] if wanted is not None else exercises_in(path)
        if not found:
            yield _nothing_found(path)
        for exercise in found:
            yield _judged(judge, path, exercise)


def _judged(judge: Judge, path: Path, exercise: Exercise) -> Report:
    """The judge's report. Where the judge itself fails, this file is ungraded and says so."""
    try:
        return judge.judge(path, exercise)
    except GraderError:
        raise
    except Exception as error:
        kind = type(error).__name__  # not what it says: the words could be the submission's
        finding = ungraded_finding(GraderError(f"the judge failed at this file ({kind})"))
        gates = not_run(exercise)
        points = exercise.max_points
        name = exercise.name
        return Report(
            str(path), name, Verdict.UNGRADED, None, points, gates, (finding,), "none", 0.0
        )


def exercises_in(path: Path) -> list[Exercise]:
    """The exercises whose function the file defines, in the order of the course.

    A file that cannot be read is judged against any exercise: the report says why.
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


def _print_json(report: Report) -> None:
    line: dict[str, Any] = report.to_line()
    print(json.dumps(line), flush=True)
